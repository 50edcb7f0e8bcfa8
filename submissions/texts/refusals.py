"""Explain to submitters why a submission is refused, and what to do.

A check that fails gives a code, and the form, the command line and Gradio's API show its text. Three codes do not come from
checks: the command `approve-code` raises NO_CODE, and the board shows SIGN_IN and TOO_OFTEN to visitors.

Where a text says "named here", "listed" or "shown", it means the `detail` that the check gives with the code.
"""

from enum import StrEnum

from submissions.texts.text import Text


class RefusalCode(StrEnum):
    """The reason why a submission is refused."""

    MALFORMED_ID = "malformed_id"
    NOT_FOUND = "not_found"
    REVISION_NOT_FOUND = "revision_not_found"
    GATED = "gated"
    NO_CONFIG = "no_config"
    BROKEN_JSON = "broken_json"
    OUTSIDE_LINK = "outside_link"
    CONFIG_SIZES = "config_sizes"
    NO_WEIGHTS = "no_weights"
    CUSTOM_CODE = "custom_code"
    CODE_SETTING = "code_setting"
    LONG_SETTINGS = "long_settings"
    NO_CODE = "no_code"
    NO_BASE = "no_base"
    ADAPTER_KIND = "adapter_kind"
    PICKLE_ONLY = "pickle_only"
    GGUF_ONLY = "gguf_only"
    MISSING_SHARD = "missing_shard"
    QUANTIZATION = "quantization"
    DEVICE_MEMORY = "device_memory"
    NOT_EXTRACTIVE = "not_extractive"
    NOT_CHAT = "not_chat"
    NO_TOKENIZER = "no_tokenizer"
    NO_PROCESSOR = "no_processor"
    TEMPLATE_FAILS = "template_fails"
    TEMPLATE_DROPS_IMAGE = "template_drops_image"
    TEMPLATE_DROPS_QUESTION = "template_drops_question"
    NO_THINKING_SWITCH = "no_thinking_switch"
    NO_IMAGE_INPUT = "no_image_input"
    ENGINE_INPUTS = "engine_inputs"
    HUB_UNREACHABLE = "hub_unreachable"
    NO_LICENSE = "no_license"
    BROKEN_WEIGHTS = "broken_weights"
    ADAPTER_NAMES = "adapter_names"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    NO_TEMPLATE = "no_template"
    SHORT_CONTEXT = "short_context"
    OPTED_OUT = "opted_out"
    SUBMITTED = "submitted"
    QUOTA_SPENT = "quota_spent"
    SIGN_IN = "sign_in"
    TOO_OFTEN = "too_often"


REFUSALS: dict[RefusalCode, Text] = {
    RefusalCode.MALFORMED_ID: Text(
        "올바른 모델 ID가 아닙니다. 영문자·숫자·`.`·`_`·`-`만 써서 `owner/name` 형식으로 입력해 주세요.",
        "This is not a valid model ID. Use the form `owner/name` with ASCII letters, digits, `.`, `_` and `-`.",
    ),
    RefusalCode.NOT_FOUND: Text(
        "허깅페이스 허브에서 이 ID의 공개 모델을 찾을 수 없습니다. 철자를 확인하고, 비공개라면 공개로 바꾼 뒤 다시 제출해 주세요.",
        "No public model with this ID was found on the Hugging Face Hub. Check the spelling; if the model is private, make it public and submit again.",
    ),
    RefusalCode.REVISION_NOT_FOUND: Text(
        "모델은 있지만 이 리비전은 없습니다. 브랜치·태그·커밋 이름을 확인하거나 비워 두세요.",
        "The model exists but this revision does not. Check the branch, tag or commit, or leave it empty.",
    ),
    RefusalCode.GATED: Text(
        "접근 승인이 필요한(gated) 모델이라 평가 서버가 내려받을 수 없습니다. 접근 승인 설정을 해제한 뒤 제출해 주세요.",
        "This model is gated, so the evaluation server cannot download it. Turn off gated access, then submit again.",
    ),
    RefusalCode.NO_CONFIG: Text(
        "읽을 수 있는 config.json이 없습니다. transformers 형식으로 저장한 모델을 올려 주세요.",
        "No readable config.json was found. Upload the model in the format that transformers saves.",
    ),
    RefusalCode.BROKEN_JSON: Text(
        "표시된 JSON 파일을 읽을 수 없습니다. 파일을 고치거나 지우고 다시 올려 주세요.",
        "The JSON file named here cannot be read. Fix or remove it, and upload again.",
    ),
    RefusalCode.OUTSIDE_LINK: Text(
        "모델 폴더에 폴더 밖을 가리키는 링크가 있습니다. 링크 대신 파일을 넣어 주세요.",
        "The model folder contains a link that points outside it. Replace the link with the file itself.",
    ),
    RefusalCode.CONFIG_SIZES: Text(
        "설정 파일에 적힌 층 수나 크기가 safetensors 가중치보다 훨씬 크거나 비정상적으로 큽니다. 가중치와 맞는 설정 파일을 올려 주세요.",
        "A size in the configuration is far larger than the safetensors weights, or unreasonably large. Upload the configuration that belongs to these weights.",
    ),
    RefusalCode.NO_WEIGHTS: Text(
        "safetensors 가중치가 없습니다. `save_pretrained(safe_serialization=True)`로 저장해 올려 주세요.",
        "There are no safetensors weights. Save with `save_pretrained(safe_serialization=True)` and upload them.",
    ),
    RefusalCode.CUSTOM_CODE: Text(
        "저장소의 파이썬 코드(커스텀 코드)가 필요한 모델입니다. 운영자에게 이 커밋의 코드를 검토하고 승인해 달라고 요청하거나, transformers가 지원하는 아키텍처로 변환해 올려 주세요.",
        "This model needs custom Python code from its repository. Ask the operator to review and approve this commit, or convert the model to an architecture that transformers supports.",
    ),
    RefusalCode.CODE_SETTING: Text(
        "설정 파일에 외부 코드를 불러오는 항목이 있습니다. 표시된 항목을 지우고 다시 올려 주세요.",
        "A configuration file has a setting that loads code from elsewhere. Remove the setting named here and upload again.",
    ),
    RefusalCode.LONG_SETTINGS: Text(
        "JSON 파일이 너무 커서 검사할 수 없습니다. 표시된 파일을 줄이거나 지우고 다시 올려 주세요.",
        "A JSON file is too large to be checked. Shorten or remove the file named here and upload again.",
    ),
    RefusalCode.NO_CODE: Text(
        "이 저장소에는 실행할 파이썬 파일이 없어 승인할 것이 없습니다.",
        "The repository has no Python files to run, so there is nothing to approve.",
    ),
    RefusalCode.NO_BASE: Text(
        "어댑터의 베이스 모델을 찾을 수 없습니다. adapter_config.json의 base_model_name_or_path에 공개 모델 ID(`owner/name`)를 적어 주세요.",
        "The adapter's base model cannot be found. Set base_model_name_or_path in adapter_config.json to a public model ID (`owner/name`).",
    ),
    RefusalCode.ADAPTER_KIND: Text(
        "LoRA 어댑터만 평가합니다. 베이스 모델에 병합한 가중치를 올려 주세요.",
        "Only LoRA adapters are evaluated. Merge the adapter into its base model and upload the merged weights.",
    ),
    RefusalCode.PICKLE_ONLY: Text(
        "pickle 가중치(.bin, .pt)만 있습니다. 안전하지 않아 불러오지 않으니 `save_pretrained(safe_serialization=True)`로 저장해 올려 주세요.",
        "The repository has only pickled weights (.bin, .pt), which are not loaded for security reasons. Save with `save_pretrained(safe_serialization=True)` and upload those.",
    ),
    RefusalCode.GGUF_ONLY: Text(
        "GGUF 가중치만 있습니다. 원본 safetensors 모델의 ID로 제출해 주세요.",
        "The repository has only GGUF weights. Submit the original model in safetensors format.",
    ),
    RefusalCode.MISSING_SHARD: Text(
        "인덱스에 있는 safetensors 샤드가 저장소에 없습니다. 빠진 파일을 올려 주세요.",
        "A safetensors shard named in the index is not in the repository. Upload the missing file.",
    ),
    RefusalCode.QUANTIZATION: Text(
        "평가 서버에서 실행할 수 없는 양자화 방식입니다. 표시된 방식 중 하나로 양자화하거나 양자화하지 않은 가중치를 제출해 주세요.",
        "The evaluation server cannot run this quantisation method. Use one of the methods listed, or submit unquantised weights.",
    ),
    RefusalCode.DEVICE_MEMORY: Text(
        "평가 서버의 메모리(GPU 등)에 올릴 수 없는 크기의 모델입니다. 더 작은 모델이나 더 낮은 정밀도로 제출해 주세요.",
        "The model needs more device memory (such as GPU memory) than the evaluation server has. Submit a smaller model or a lower precision.",
    ),
    RefusalCode.NOT_EXTRACTIVE: Text(
        "이 아키텍처로는 추출형 질의응답을 할 수 없습니다. BERT 계열 인코더나 생성형 모델을 제출해 주세요.",
        "Extractive question answering is not supported for this architecture. Submit an encoder such as BERT, or a generative model.",
    ),
    RefusalCode.NOT_CHAT: Text(
        "글을 생성하는 모델이 아닙니다(분류·보상·임베딩 모델 등). 답변을 생성하는 모델을 제출해 주세요.",
        "This model does not generate text: it classifies, scores or embeds. Submit a model that generates answers.",
    ),
    RefusalCode.NO_TOKENIZER: Text(
        "토크나이저 파일이 없거나 비어 있습니다. `tokenizer.save_pretrained()`로 저장한 파일을 함께 올려 주세요.",
        "The tokenizer files are missing or empty. Upload the files that `tokenizer.save_pretrained()` writes.",
    ),
    RefusalCode.NO_PROCESSOR: Text(
        "이미지 프로세서 설정이 없습니다. `processor.save_pretrained()`로 저장한 파일을 함께 올려 주세요.",
        "There is no image processor configuration. Upload the files that `processor.save_pretrained()` writes.",
    ),
    RefusalCode.TEMPLATE_FAILS: Text(
        "채팅 템플릿이 사용자 메시지 하나로 된 대화를 처리하지 못했습니다. 표시된 오류를 고쳐 주세요.",
        "The chat template fails on a single user message. Fix the error shown.",
    ),
    RefusalCode.TEMPLATE_DROPS_IMAGE: Text(
        "채팅 템플릿이 이미지를 빠뜨립니다. `{'type': 'image'}` 항목이 이미지 토큰으로 렌더링되도록 고쳐 주세요.",
        "The chat template drops the image. It must render the image token for a `{'type': 'image'}` part.",
    ),
    RefusalCode.TEMPLATE_DROPS_QUESTION: Text(
        "채팅 템플릿이 질문을 빠뜨립니다. 사용자 메시지의 내용이 그대로 렌더링되도록 고쳐 주세요.",
        "The chat template drops the question. It must render the content of the user message.",
    ),
    RefusalCode.NO_THINKING_SWITCH: Text(
        "이 모델의 채팅 템플릿이나 API는 이 추론 설정을 지원하지 않습니다. ‘모델 기본값’으로 두거나, 표시된 설정이 있으면 그중에서 골라 주세요.",
        "This model's chat template or API does not support this reasoning mode. Leave it at “Model default”, or choose one of the modes listed, if there are any.",
    ),
    RefusalCode.NO_IMAGE_INPUT: Text(
        "이미지를 입력받지 못하는 모델입니다. 이 벤치마크에는 비전-언어 모델이 필요합니다.",
        "This model does not accept images. This benchmark needs a vision-language model.",
    ),
    RefusalCode.ENGINE_INPUTS: Text(
        "이 유형의 모델을 실행하는 엔진은 이 벤치마크를 지원하지 않습니다. 추출형 질의응답 모델은 KorQuAD 2.0에 제출해 주세요.",
        "The engine for this type of model does not support this benchmark. Submit extractive question-answering models to KorQuAD 2.0.",
    ),
    RefusalCode.HUB_UNREACHABLE: Text(
        "지금 허깅페이스 허브에 연결할 수 없습니다. 저희 쪽 문제일 수 있으니 잠시 뒤 다시 시도해 주세요.",
        "The Hugging Face Hub cannot be reached right now. The problem may be on our side; try again later.",
    ),
    RefusalCode.NO_LICENSE: Text(
        "모델 카드에 라이선스가 없습니다. README.md 헤더(YAML 메타데이터)에 `license:`를 적어 주세요.",
        "The model card does not state a licence. Add `license:` to the YAML metadata at the top of README.md.",
    ),
    RefusalCode.BROKEN_WEIGHTS: Text(
        "safetensors 파일의 헤더를 읽을 수 없거나 파일이 잘려 있습니다. 파일이 손상되지 않았는지 확인하고 다시 올려 주세요.",
        "A safetensors file is truncated, or its header cannot be read. Check that the file is not corrupted and upload it again.",
    ),
    RefusalCode.ADAPTER_NAMES: Text(
        "어댑터의 가중치가 빠져 있거나 베이스 모델과 맞지 않습니다. 어댑터를 학습한 모델이 base_model_name_or_path에 적혀 있는지, 모든 가중치를 저장했는지 확인해 주세요.",
        "Weights of the adapter are missing or do not fit the base model. Check that base_model_name_or_path names the model that it was trained on, and that all of its weights were saved.",
    ),
    RefusalCode.TOO_LARGE: Text(
        "저장소의 전체 크기가 평가 서버의 한도를 넘습니다. 필요 없는 파일을 지우거나 더 작은 모델을 제출해 주세요.",
        "The repository is larger than the evaluation server accepts. Remove unneeded files, or submit a smaller model.",
    ),
    RefusalCode.UNSUPPORTED: Text(
        "평가 서버의 transformers 버전이 지원하지 않는 아키텍처입니다. 지원되는 아키텍처로 변환해 제출해 주세요.",
        "The evaluation server's version of transformers does not support this architecture. Convert the model to a supported one.",
    ),
    RefusalCode.NO_TEMPLATE: Text(
        "쓸 수 있는 채팅 템플릿이 없습니다. 문법에 맞는 chat_template.jinja를 올려 주세요.",
        "There is no usable chat template. Upload a valid chat_template.jinja.",
    ),
    RefusalCode.SHORT_CONTEXT: Text(
        "질문과 답변을 담기에는 컨텍스트 길이가 짧습니다. 컨텍스트가 더 긴 모델을 제출해 주세요.",
        "The context length is too short for a question and its answer. Submit a model with a longer context.",
    ),
    RefusalCode.OPTED_OUT: Text(
        "모델 소유자의 요청에 따라 이 리더보드에서 평가하지 않는 모델입니다. 소유자에게 문의해 주세요.",
        "The model's owner has opted out of this leaderboard. Contact the owner.",
    ),
    RefusalCode.SUBMITTED: Text(
        "이미 접수된 요청입니다. 대기열에서 상태를 확인하세요. 새 커밋이나 다른 정밀도는 다시 제출할 수 있습니다.",
        "This has already been submitted; see the queue for its status. You can submit a new commit or another precision.",
    ),
    RefusalCode.QUOTA_SPENT: Text(
        "이 벤치마크의 제출 횟수를 다 썼습니다. 표시된 시각 이후에 다시 제출해 주세요.",
        "You have used all your submissions to this benchmark. You can submit again after the time shown.",
    ),
    RefusalCode.SIGN_IN: Text(
        "제출하려면 먼저 허깅페이스 계정으로 로그인하세요.",
        "Sign in with Hugging Face to submit.",
    ),
    RefusalCode.TOO_OFTEN: Text(
        "요청이 너무 잦습니다. 1분 뒤에 다시 시도해 주세요.",
        "Too many requests. Try again in a minute.",
    ),
}
