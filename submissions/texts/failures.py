"""Explain failed evaluations to visitors: the reason, and what to do.

The pages of the queue and of a request, the request's JSON and the command line show the text of a code. The texts of the
kind HOST also explain why a worker pauses. Only texts of model failures ask the submitter to do something.
"""

from submissions.texts.failure_codes import FailureCode
from submissions.texts.text import Text

FAILURES: dict[FailureCode, Text] = {
    FailureCode.MODEL_NOT_FOUND: Text(
        "제출한 리비전을 더 이상 받을 수 없습니다. 모델을 다시 공개하고 새로 제출해 주세요.",
        "The submitted revision can no longer be downloaded. Make the model public again and resubmit.",
    ),
    FailureCode.MODEL_TOO_LARGE: Text(
        "모델 파일의 크기나 개수가 평가 서버의 한도를 넘습니다. 더 작은 모델을 제출해 주세요.",
        "The size or number of the model's files exceeds the limit of the evaluation server. Submit a smaller model.",
    ),
    FailureCode.UNSUPPORTED_ARCHITECTURE: Text(
        "평가 서버의 transformers 버전이 지원하지 않는 아키텍처입니다. 지원되는 아키텍처로 변환해 제출해 주세요.",
        "The evaluation server's version of transformers does not support this architecture. Convert the model to a supported one.",
    ),
    FailureCode.INVALID_WEIGHTS: Text(
        "가중치가 빠졌거나 아키텍처와 맞지 않습니다. 모든 safetensors 샤드가 올라갔는지 확인해 주세요.",
        "Weights are missing or do not fit the architecture. Check that every safetensors shard is uploaded.",
    ),
    FailureCode.NO_CHAT_TEMPLATE: Text(
        "토크나이저에 채팅 템플릿이 없습니다. chat_template.jinja를 추가해 주세요.",
        "The tokenizer has no chat template. Add a chat_template.jinja.",
    ),
    FailureCode.TEMPLATE_ERROR: Text(
        "채팅 템플릿이 사용자 메시지 하나로 된 대화를 처리하지 못했습니다. 템플릿의 조건문과 예외 처리를 확인해 주세요.",
        "The chat template cannot render a single user message. Check its conditionals and raised exceptions.",
    ),
    FailureCode.NO_IMAGE_INPUT: Text(
        "이미지를 입력받지 못하는 모델입니다. 비전-언어 모델을 제출해 주세요.",
        "The model does not accept images. Submit a vision-language model.",
    ),
    FailureCode.NAN_LOGITS: Text(
        "모델이 NaN을 출력했습니다. 가중치와 정밀도를 확인해 주세요.",
        "The model produced NaN. Check the weights and the precision.",
    ),
    FailureCode.MODEL_ERROR: Text(
        "모델을 불러오거나 실행하는 중 오류가 났습니다. transformers만으로 실행되는지 확인해 주세요.",
        "The model failed while loading or running. Check that it runs with transformers alone.",
    ),
    FailureCode.LOAD_TIMEOUT: Text(
        "모델을 불러오거나 첫 답변을 얻는 데 너무 오래 걸렸습니다. config.json의 층 수와 크기가 가중치와 맞는지, 토크나이저가 정상으로 동작하는지 확인해 주세요.",
        "Loading, or the first answer, took too long. Check that the sizes in config.json match the weights, and that the tokenizer works.",
    ),
    FailureCode.DEADLINE: Text(
        "정해진 시간 안에 평가가 끝나지 않았습니다. 더 작은 모델이나 낮은 정밀도로 제출해 주세요.",
        "The evaluation did not finish within the time limit. Submit a smaller model or a lower precision.",
    ),
    FailureCode.OUT_OF_MEMORY: Text(
        "평가 서버의 메모리가 모자랐습니다. 따로 하실 일은 없으며 저희가 확인하겠습니다.",
        "The evaluation server ran out of memory. No action needed; we will look into it.",
    ),
    FailureCode.PROCESS_KILLED: Text(
        "평가 프로세스가 중단되었습니다. 따로 하실 일은 없으며 저희가 확인하겠습니다.",
        "The evaluation process was killed. No action needed; we will look into it.",
    ),
    FailureCode.WORKER_LOST: Text(
        "평가 서버와의 연결이 여러 번 끊겼습니다. 따로 하실 일은 없으며 저희가 확인하겠습니다.",
        "The connection to the evaluation server was lost several times. No action needed; we will look into it.",
    ),
    FailureCode.INCOMPLETE: Text(
        "모델 서버가 일부 문항에 답하지 못했습니다. 따로 하실 일은 없으며 저희가 확인하겠습니다.",
        "The model server did not answer some of the items. No action needed; we will look into it.",
    ),
    FailureCode.MISSING_LIBRARY: Text(
        "이 모델에 필요한 라이브러리가 평가 서버에 없습니다. 저희 쪽 문제이므로, 확인한 뒤 제출 횟수를 돌려드립니다.",
        "The evaluation server lacks a library that this model needs. This is our error; your quota is restored after review.",
    ),
    FailureCode.CODE_NOT_APPROVED: Text(
        "저장소의 코드가 승인된 것과 다르거나 승인이 취소되어 실행하지 않았습니다. 저희가 확인하겠습니다.",
        "The repository's code differs from what was approved, or the approval was withdrawn, so it was not run. We will look into it.",
    ),
    FailureCode.API_REFUSED: Text(
        "모델 서버가 저희 요청을 거절했습니다. 주소·키·모델 이름을 저희가 확인하겠습니다.",
        "The model server refused our requests. We will check its address, key and model name.",
    ),
    FailureCode.BUDGET_SPENT: Text(
        "이 평가에 정해진 요청·토큰·비용 한도에 도달했습니다. 지금까지 받은 답변은 보관됩니다.",
        "The limit on requests, tokens or cost was reached. The answers received so far are kept.",
    ),
    FailureCode.SERVER_FAILED: Text(
        "모델 서버를 시작하지 못했거나 서버에 연결할 수 없습니다. 저희가 확인하겠습니다.",
        "The model server could not be started or reached. We will look into it.",
    ),
    FailureCode.WITHHELD: Text(
        "결과에 비공개 테스트 세트의 일부가 들어 있어 게시하지 않았습니다. 저희가 확인하겠습니다.",
        "The result contained text from the private test set, so it was not published. We will look into it.",
    ),
    FailureCode.NO_HARDWARE: Text(
        "운영자가 평가에 쓰기로 정한 장비 가운데 이 모델을 실행할 수 있는 것이 없습니다. 저희가 확인하겠습니다.",
        "None of the machines that the operator uses for evaluations can hold this model. We will look into it.",
    ),
    FailureCode.DISK_FULL: Text(
        "평가 서버의 디스크가 가득 찼습니다. 따로 하실 일은 없으며 저희가 확인하겠습니다.",
        "The evaluation server's disk is full. No action needed; we will look into it.",
    ),
    FailureCode.HUB_UNAVAILABLE: Text(
        "허깅페이스 허브에서 모델을 받지 못했습니다. 따로 하실 일은 없으며 저희가 확인하겠습니다.",
        "The model could not be downloaded from the Hugging Face Hub. No action needed; we will look into it.",
    ),
    FailureCode.BENCHMARK_INVALID: Text(
        "벤치마크 데이터에 문제가 있습니다. 따로 하실 일은 없으며 저희가 확인하겠습니다.",
        "There is an error in the benchmark data. No action needed; we will look into it.",
    ),
    FailureCode.LAUNCH_FAILED: Text(
        "평가를 실행할 장비를 배정받지 못했습니다. 저희가 확인하겠습니다.",
        "No machine was available to run the evaluation. We will look into it.",
    ),
    FailureCode.INTERNAL_ERROR: Text(
        "내부 오류가 발생했습니다. 따로 하실 일은 없으며 저희가 확인하겠습니다.",
        "An internal error occurred. No action needed; we will look into it.",
    ),
}
