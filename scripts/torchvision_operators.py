"""`python -m scripts.torchvision_operators`: make the installed torchvision usable beside the CPU build of torch.

PyPI has torchvision only for CUDA. With a CPU build of torch, its compiled operators cannot be loaded. The import fails,
because two operators get Python fallbacks without being declared, and images cannot be decoded. Processors call neither
operator, so it is enough to declare them and to decode images with Pillow. A torchvision that works (a CPU build, or any
build on a CUDA host) is not changed.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

DECLARED = """

if not _has_ops():  # appended by scripts.torchvision_operators: the compiled operators need CUDA
    for _schema in (
        "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    ):
        torch.library.define(f"torchvision::{_schema.partition('(')[0]}", f"({_schema.partition('(')[2]}")
"""
DECODED = """

try:
    _assert_has_image_ops()
except RuntimeError:  # appended by scripts.torchvision_operators: the compiled decoders need CUDA

    def decode_image(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
        import io

        import numpy
        from PIL import Image, ImageOps

        image = Image.open(input if isinstance(input, str) else io.BytesIO(input.numpy().tobytes()))
        if apply_exif_orientation:
            image = ImageOps.exif_transpose(image)
        name = getattr(mode, "name", str(mode)).upper()
        wanted = {"GRAY": "L", "GRAY_ALPHA": "LA", "RGB": "RGB", "RGB_ALPHA": "RGBA"}.get(name)
        values = numpy.array(image.convert(wanted) if wanted else image)
        return torch.from_numpy(values if values.ndim == 3 else values[:, :, None]).permute(2, 0, 1).contiguous()
"""
TRIAL = """
import io, torch
from PIL import Image
from torchvision.io import ImageReadMode, decode_image
file = io.BytesIO()
Image.new("RGB", (2, 3)).save(file, "PNG")
image = decode_image(torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8), mode=ImageReadMode.RGB)
assert image.shape == (3, 3, 2)
"""


def main() -> int:
    if _works():
        return 0
    spec = find_spec("torchvision")
    if spec is None or spec.origin is None:
        print("torchvision is not installed", file=sys.stderr)
        return 1
    folder = Path(spec.origin).parent
    for file, addition in ((folder / "extension.py", DECLARED), (folder / "io/image.py", DECODED)):
        source = file.read_text(encoding="utf-8")
        if addition not in source:
            file.write_text(source + addition, encoding="utf-8")
    if _works():
        return 0
    print("torchvision cannot be used; install the build that matches torch", file=sys.stderr)
    return 1


def _works() -> bool:
    return subprocess.run([sys.executable, "-c", TRIAL], capture_output=True).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
