"""Name the checks that a submission must pass, and define their titles."""

from enum import StrEnum

from submissions.texts.text import Text


class CheckName(StrEnum):
    """The checks that run before a model is queued.

    They are listed in the order in which they are shown, which `submissions/checks` decides.
    """

    ID = "id"
    PUBLIC = "public"
    BASE = "base"
    LICENSE = "license"
    WEIGHTS = "weights"
    SIZE = "size"
    CONFIG = "config"
    ARCHITECTURE = "architecture"
    QUANTIZATION = "quantization"
    TOKENIZER = "tokenizer"
    CODE = "code"
    MEMORY = "memory"
    THINKING = "thinking"
    OPT_OUT = "opt_out"
    INPUTS = "inputs"
    TEMPLATE = "template"
    CONTEXT = "context"
    NEW = "new"
    QUOTA = "quota"


CHECKS: dict[CheckName, Text] = {
    CheckName.ID: Text("모델 ID 형식", "Model ID format"),
    CheckName.PUBLIC: Text("모델 공개 여부와 리비전", "Model visibility and revision"),
    CheckName.BASE: Text("어댑터의 베이스 모델", "Base model of the adapter"),
    CheckName.LICENSE: Text("라이선스", "Licence"),
    CheckName.WEIGHTS: Text("safetensors 가중치", "safetensors weights"),
    CheckName.SIZE: Text("전체 크기", "Total size"),
    CheckName.CONFIG: Text("설정 파일(config.json)", "Configuration (config.json)"),
    CheckName.ARCHITECTURE: Text("아키텍처 지원 여부", "Architecture support"),
    CheckName.QUANTIZATION: Text("양자화 방식", "Quantisation method"),
    CheckName.TOKENIZER: Text("토크나이저와 프로세서", "Tokenizer and processor"),
    CheckName.CODE: Text("커스텀 코드", "Custom code"),
    CheckName.MEMORY: Text("필요한 메모리", "Memory needed"),
    CheckName.THINKING: Text("추론(thinking) 설정", "Reasoning mode"),
    CheckName.OPT_OUT: Text("소유자의 평가 거부(opt-out) 여부", "Owner opt-out"),
    CheckName.INPUTS: Text("입력 형식", "Input types"),
    CheckName.TEMPLATE: Text("채팅 템플릿", "Chat template"),
    CheckName.CONTEXT: Text("컨텍스트 길이", "Context length"),
    CheckName.NEW: Text("중복 여부", "Duplicate submission"),
    CheckName.QUOTA: Text("남은 제출 횟수", "Submissions remaining"),
}
