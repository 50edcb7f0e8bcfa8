"""Chat templates, from the pieces that the makers' have in common."""

ALTERNATE = (
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
)


def show(*parts: tuple[str, str], text: str = "{{ p.text }}", otherwise: str = "") -> str:
    """Return a template of a message `m`: its string, or its parts `p` in order, each type with its own text."""
    last = (("text", text),) if text else ()
    cases = "{% elif ".join(f"{_case(kind)} %}}{shown}" for kind, shown in (*parts, *last))
    otherwise = f"{{% else %}}{otherwise}" if otherwise else ""
    return (
        "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}"
        f"{{% if {cases}{otherwise}{{% endif %}}{{% endfor %}}{{% endif %}}"
    )


def _case(kind: str) -> str:
    return kind if " " in kind else f"p.type == '{kind}'"


def by_kind(*kinds: tuple[str, str]) -> str:
    """Return a template of a message's parts, all of one type before those of the next."""
    return "".join(
        f"{{% for p in m.content | selectattr('type', 'equalto', '{kind}') %}}{shown}{{% endfor %}}"
        for kind, shown in kinds
    )


def reply(text: str) -> str:
    """Return the part of a template that begins the reply."""
    return f"{{% if add_generation_prompt %}}{text}{{% endif %}}"


def loop(body: str, messages: str = "messages") -> str:
    """Return a template that repeats this for every message `m`."""
    return f"{{% for m in {messages} %}}{body}{{% endfor %}}"


def turns(image: str, start: str, end: str, answer: str, first: str = "", video: str = "") -> str:
    """Return a template with every message between `start` and `end`, then the beginning of the answer."""
    shown = show(*((kind, shown) for kind, shown in (("image", image), ("video", video)) if shown))
    return first + loop(start + shown + end) + reply(f"{{{{ '{answer}' }}}}")


def chatml(image: str, first: str = "", answer: str = "", video: str = "") -> str:
    """Return ChatML with an image written this way."""
    start = "<|im_start|>{{ m.role }}\n"
    return turns(image, start, "<|im_end|>\n", "<|im_start|>assistant\n" + answer, first, video)


# Where thinking is off unless asked for, and where it is on unless switched off.
THINK_IF_ASKED = "{{ '<think>\n' if enable_thinking is defined and enable_thinking else '<think>\n\n</think>\n\n' }}"
THINK_UNLESS_OFF = (
    "{{ '<think>\n\n</think>\n\n' if enable_thinking is defined and enable_thinking is false else '<think>\n' }}"
)
# A system message is taken from the messages; `head` is what it said, or empty.
TAKE_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{% set head = messages[0]['content'] %}{% set turns = messages[1:] %}"
    "{% else %}{% set head = '' %}{% set turns = messages %}{% endif %}"
)
HELPFUL = (
    "{% if loop.first and m['role'] != 'system' %}"
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
)
