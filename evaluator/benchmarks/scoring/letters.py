"""Find the letter, or the letters, of the choice that an answer settles on.

This is the strict rule of all benchmarks with choices: `"A는 틀렸으므로 정답은 (B)입니다."` → `"B"`. A letter is a choice only if
it stands alone or before a particle. `A chart shows` has an article, and `A사`, `B형` and `D램` are labels of a chart.

Letters that an answer denies (`A는 틀렸다`, `the wrong one is A`), compares with (`taller than A`) or lists before it chooses
(`of A and B`) are left out. The others are looked for in the places where answers are given, the most reliable place first
(`_letters_by_place`): after a marker such as 정답, after a conclusion, alone in a line, and so on. The first place with a
letter decides, and the answer is clear only if there is one letter at that place and no alternative beside it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from evaluator.benchmarks.scoring.choices import LETTERS
from evaluator.benchmarks.scoring.stated_answer import EITHER, stated_answer

MAX_WORDS_BESIDE = 15  # beside the text of a choice in the last sentence of an answer
MAX_LETTERS = 50  # an answer with more letters or markers in one place repeats itself and asserts nothing
_NOUN_REACH = 12  # characters before a letter in which the rules look for a noun such as group
_CLEAR_PLACES = 4  # the first of _letters_by_place: an output that repeats the choices is read at no other place

# Which letters are choices: what may follow one in Hangul, and the nouns whose labels are not choices.
_PARTICLE = re.compile(
    r"""
    (?:
        은 | 는 | 이 | 가 | 을 | 를 | 의 | 와 | 과 | 도 | 만 | 로 | 나 | 라         # B가, B와
      | 번 | 항 | 안 | 인 | 일 | 임 | 에                                            # B번, B임
      | 번은 | 번이 | 번을 | 번과 | 번도 | 번만 | 번의                              # B번은
      | 이나 | 보다 | 처럼 | 라고 | 라는 | 이라고 | 이라는 | 으로                   # B보다, B라고
    ) (?![가-힣])
    | 뿐 | 번?(?:
        입니다 | 이다 | 이며 | 이고 | 이므로 | 이에요 | 예요 | 이었 | 였 | 이라     # B입니다, B번이다
      | 일\ 것 | 인\ 것 | 임을 | 라\  | 이\ 맞 | 가\ 맞                             # B일 것, B라 생각합니다, B가 맞습니다
    )
    | 선택 | 보기 | 옵션 | 설명                                                     # B선택지
    | 또는 | 혹은 | 아니면 | 이거나 | 거나 | 및                                     # B또는 C
    """,
    re.VERBOSE,
)
_NOUN = re.compile(
    r"""
    \s
    (?:
        사 | 회사 | 기업 | 업체 | 공장 | 지점                # B 회사
      | 지역 | 시 | 군 | 구 | 동 | 국 | 구간 | 노선          # B 지역
      | 형 | 등급 | 급 | 제품 | 상품 | 항목                  # B 등급
      | 그룹 | 팀 | 반 | 조 | 군집 | 대학 | 학교             # B 그룹
    )
    (?:은|는|이|가|을|를|의|과|와|도|보다|에서)? (?![가-힣])
    """,
    re.VERBOSE,
)
# What may follow choice A in English. Before any other word, A is an article.
_AFTER_CHOICE_A = re.compile(
    r"""
    \s+
    (?:
        is | was | are | has | would                                  # A is correct
      | because | since | as | and | or | but | not | here | only     # A because the bar …
      | matches | describes | best | fits | correctly | accurately    # A best describes the chart
      | seems | looks | appears | states | says                       # A states that
    )\b
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"\s+[a-z]")  # after an article: A chart
_ALONE = re.compile(r"(?<![A-Za-z'’])[A-Da-d](?![A-Za-z'’]|-[a-z])")  # not part of a word: not in PDF, A's, A-list
_QUOTED = re.compile(r"['‘’\"“”`]([A-D])['‘’\"“”`]")  # "B"
_NOUN_BEFORE = re.compile(
    r"""
    (?: vitamin | hepatitis                                           # vitamin C
      | group | team | company | region                               # group A
      | type | class | grade | plan | product | model                 # class B
      | phase | zone | line | section | series                        # phase A
      | 그룹 | 팀 | 회사 | 기업 | 지역 | 등급 | 유형 | 타입           # 그룹 A
      | 제품 | 모델 | 플랜 | 노선 | 비타민                            # 비타민 C
    )
    \s?$
    """,
    re.IGNORECASE | re.VERBOSE,
)

# Places of an answer.
_MARKER = re.compile(
    r"""
    (?: (?<![가-힣]) (?:최종\s?)? (?:정답|답변|답)                    # 최종 정답, but not 대답
      | (?:final\ |correct\ )? answer                                 # final answer
      | correct\ (?: choice | option | statement | description )      # correct option
    )
    (?: 은 | 는 | 이 | : | = | \s | is\b | 옵션 | 선택지 | 보기      # 정답은 옵션, answer is:
      | (?: option | choice | letter | description | statement )\b    # answer is option
    )*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DIRECT = re.compile(r"[\s(\[*\"'“‘]*([A-Da-d])(?![A-Za-z'’])")  # right after a marker: (b), **B**
_CONCLUSION = re.compile(
    r"""
    따라서 | 그러므로 | 그래서 | 결론                                 # 따라서 B
    | (?<![가-힣])즉(?![가-힣])                                       # 즉 B, but not 즉시
    | 가장\ 적절한 | 남은(?=\s[A-D])                                  # 남은 B
    | (?: 남는 | 남은 | 옳은 | 맞는 | 올바른                          # 옳은 것은 B
        | (?: 바르 | 올바르 | 정확하 | 옳 )게\ [가-힣]{2,6}           # 바르게 설명한 것은 B
        | (?: 정확히 | 가장\ 잘 )\ [가-힣]{2,6}                       # 가장 잘 나타낸 설명은 B
        | (?: 일치 | 부합 )하는                                       # 일치하는 설명은 B
      )
      \ (?: 것 | 설명 | 보기 | 선택지 )
    | \b(?: therefore | thus | hence | so                             # therefore B
        | leaves | leaving | remaining )\b                            # which leaves B
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_END = re.compile(r"[.!?。](?=\s|\Z)|\n")  # not in 3.5
_AFFIRMED_AFTER = re.compile(
    r"""
    [)\]*\"']* (?:번)? (?: 은 | 는 | 이 | 가 | 만 | 만이 )? [\s:|]*   # B번이, B:, B |
    (?:is\s)? (?:the\s)? (?:only\s)?
    (?: correct | right\b | true\b | matches                          # B is the only correct
      | 참 (?![가-힣]*지)                                             # B는 참, but not 참이지 않습니다
      | (?:을|를)\s?
        (?: 고르(?!지) | 고릅 | 골라 | 골랐                           # B를 고르겠습니다, but not 고르지
          | 선택(?!하지) | 택하 | 택합 )                              # B를 선택합니다
      | 맞 (?!지|을) | 옳 (?!지|을)                                   # B가 맞습니다, but not 맞지 않습니다, 맞을까요
      | 정답 | 가장\ 적절 | 일치 (?!하지)                             # B가 정답, B가 일치합니다
      | [✅⭕✓] | \(?O\)                                              # B: ✅, B (O)
      | [-=–—]?\s* [O○◯] (?= \s* (?: [,./;|(] | \Z | \n ))           # B: O, B = ○
      | [(=–—-] \s* (?: 맞 | 정답 | 참\b | correct\b | right\b | true\b | yes\b )  # B (맞음), B - yes
      | yes\b                                                         # B: yes
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CHOSEN = re.compile(  # a letter after a verb of choice
    r"""
    (?: \b (?:I|we) (?: 'd | ’d | 'll | ’ll )? \s (?: would\s | will\s | have\s | must\s | am\s )? (?: therefore\s | thus\s )?
        (?: choos (?:e|ing) | chose | chosen | pick (?:ed|ing)?       # I would choose B
          | select (?:ed|ing)? | prefer | opt\ for | go (?:ing)?\ (?:with|for) )
      | \b my\ (?: choice | pick | selection ) (?: \s is | : )       # my choice is B
      | \b it (?: \s is | 's | ’s | \ must\ be | \ has\ to\ be | \ should\ be )   # it must be B
    )
    \s (?: the\s )? (?: (?: option | choice | letter | description | statement ) \s )?
    [(\[*\"']* (?-i:([A-D])) (?! [A-Za-z'’] | \s (?: that | which | who )\b )  # not: it is B that is wrong
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FIRST = re.compile(  # the answer's first word
    r"""
    \A [\s(\[*#\"'<>]*
    (?:
        ([A-Da-d])
        (?= [\s)\].:*\"'번은는이가를도,]                              # (b), B번
          | 입니다 | 예요 | \Z                                        # B입니다
        )
      | (?:the\s)? (?: option | choice ) \s [(\[*]* (?-i:([A-Da-d]))
        (?! ,? \s* [(\[*]* (?:option|choice) )                        # not: Option A, option B
        (?= [)\]*]* (?: [.,:;–—-] | \s (?: because | since | as )\b | \Z ))   # Option B, because …
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LINE = re.compile(r"^[ \t(\[*\"']*([A-D])[)\]*\"'.]*[ \t]*$", re.MULTILINE)  # nothing else in its line
_CHECKED_LINE = re.compile(  # "B. The share of … fell. ✅"
    r"^[^\nA-D]*(?:option\s|choice\s)?([A-D])[.):][^\n]*[✅✔✓⭕]\s*$", re.MULTILINE | re.IGNORECASE
)
_EMPHASIZED = re.compile(r"(?:\(|\[|\*\*)([A-D])(?:\)|\]|\*\*)")  # (B), [B], **B**

# Alternatives and lists. The first three strings are parts of verbose patterns.
_CLOSING_MARKS = r"[)\]*\"']* (?:\.|번)?"  # brackets, bold, quotes, "." or "번" after a letter
_NEXT_LETTER = r"[(\[*\"']* [A-D] (?![A-Za-z])"
_OR = r"또는 | 혹은 | 아니면 | 이?나 | or\b"
# Words between letters that are named together.
_JOINS = r"(?: 또는 | 혹은 | 아니면 | 내지 | 이?나 | 및 | 와 | 과 | 하고 | 이?랑 | 그리고 )"
_CANDIDATE_AFTER = re.compile(  # after a letter that is one of several candidates
    rf"""
    {_CLOSING_MARKS} \s*
    (?: (?: {_JOINS}                                                  # A 또는 B, A와 B
          | — | [,/~|·&] | (?<!\n)-                                   # A, B; A/B; A-B, but not an item of a list
          | or\b | and\b                                              # A or B
        )
        \s*
    )+
    [(\[*\"']* (?!(?-i:a\s+[a-z])) [A-D] (?![A-Za-z가-힣])         # but not an article: B, a decline
    (?!{_CLOSING_MARKS}\s*중)                                        # nor A, B 중
    | {_CLOSING_MARKS} \s* (?: (?:{_OR}) \s* )+ {_NEXT_LETTER}        # A 또는 B입니다: a particle may follow
    | \)\s*\([A-D]\)                                                  # (A) (B)
    | {_CLOSING_MARKS}
      (?: \s+ {_NEXT_LETTER} {_CLOSING_MARKS} )+ \s* (?:\Z|\n)        # A B C D at the end of a line
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BETWEEN = re.compile(  # between two letters of a list
    rf"""
    [)\]*\"'\s]*
    (?:
        (?: {_JOINS}                                                  # A와 B
          | [,/~|·&] | (?<!\n)-                                       # A, B
          | or\b | and\b                                              # A and B
        )
        [\s(\[*\"']*
    )+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OF_THEM = re.compile(r"[)\]*\"']*\s*(?:중|가운데)")  # after the list of which one is chosen: A와 B 중 B
_ALSO_POSSIBLE = re.compile(
    r"""
    [)\]*\"']* (?:번)? \s* (?: 도 | 역시 | 일\ 수도? )
    \s* (?: 가능 | 맞 | 적절 | 옳 | 해당 | 정답 | 될 | 있 )           # B도 가능합니다, B일 수 있습니다
    | \s (?: is | are | could | might | may )
      \s (?: also | be | equally )
      \s (?: possible | correct | right | plausible )                 # B is also possible
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What follows or precedes a letter that the answer denies.
_DENIED_AFTER = re.compile(
    r"""
    [)\]*\"']* (?:번)? (?: 이 | 가 | 은 | 는 | 도 | 만 | 만이 | 를 | 을 | : )? [^\S\n]*
    (?:
        아니(?!면) | 아닙 | 아님                                      # B가 아니라, but not 아니면 (or)
      | (?: (?:is|are)\s* )? (?: not\b | incorrect | wrong | false )  # B is not
      | 틀[리렸린립](?!지\s?않) | 오답 | 거짓 | [❌✗]                 # B는 틀립니다, B: ❌, but not 틀리지 않았다
      | 제외 | 배제 | 빼(?:고|면) | 뺀 | 지우[고면] | 외의 | 고르면(?!\s?[됩된돼])   # B를 제외하면, B를 빼고, B 외의
      | 인지 | \? | (?:맞|옳)(?: 지\s*않 | 을까 )                     # B인지, B?, B가 맞을까
    )
    | [^\S\n]* 보다(?:는)?\s (?: 더\s )?
      [^.\n]{0,30}? (?: 적절 | 정확 | 적합 | 맞[다는습] | 낫 | 나은 | 낫습 )  # A보다 B가 더 적절합니다
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OTHERS = r"(?: 나머지 | 그\s?외 | 그\s?밖 | (?: 다른 | 기타 | 남은 )\s(?: 보기 | 설명 | 선택지 | 것 | 셋 | 세 ) )"
_DENIED_IN_CLAUSE = re.compile(
    rf"""
    [)\]*\"'\s|:]{{0,6}} (?: 번 | (?: 은 | 는 | 이 | 가 | 도 | 만 | 만이 | 에는? ) (?![가-힣]) )
    (?: (?!{_OTHERS}) (?-i:[^A-D.\n,;]) ){{0,40}}?                           # but not B가 맞고 나머지는 틀립니다
    (?: (?: 맞 | 옳 | 일치하 | 부합하 | 적절하 | 적합하 | 정확하      # B는 그래프와 일치하지 않습니다
          | 올바르 | 바르 | 알맞 | 타당하 | 해당하 )
        지(?:는|도)?\ ?(?: 않 | 못 )
      | (?: 틀리 | 틀립 | 틀렸 | 다릅 | 다르 | 아닙                   # B는 … 사실과 다릅니다
          | 틀린 | 답[이은]\ ?아니 | 오답 | 잘못 | 거짓 | 반대 | 제외
          | 부적절 | 부적합 | 부정확 | 오류 | 모순 | 어긋 )
        (?! [가-힣\ ]{{0,6}} (?: 않 | 없 ) )             # but not 틀리지 않습니다, 오류가 없다
      | (?: 것처럼 | 듯이? | 것\ 같아 )\s?(?:보이|하)(?:지만|나|는데) # B가 맞는 것처럼 보이지만
    )
    | \s (?: is | was | are | cannot | can't | does | doesn't | did | has )\b
      (?: (?: \s (?: [a-z]+ly | an? | the | considered | deemed ) ){{1,2}} \s   # B is clearly wrong, B is a wrong option
        | [^A-D.\n,;]{{0,30}}? )       # B is still wrong, but not "B is right and the others are wrong": no a to d
      (?: false | incorrect | wrong | not\b | n't\b | cannot          # B is not
        | inaccurate | contradict | ruled\ out | eliminated )         # B is ruled out
    | \s (?: can | could | may | should | must | has\ to | to | will )
      \s be\s (?: safely\s )?
      (?: ruled\ out | eliminated | excluded | rejected | discarded | dismissed )  # B can be ruled out
    | \s are\s (?: all\s | both\s )? too\b                          # A and C are too small
    | \s (?: can't | cannot | doesn't | does\ not | isn't )
      \s (?! be\s (?: ruled | excluded | eliminated | rejected | discarded | dismissed ) )  # but not B cannot be ruled out
    | [\s|:)]{{0,6}} (?: [❌✗✘×] | \(X\) | 불일치 | 부적합 )            # | B | ❌ |
    | [)\]*]* \s? (?: [:|=–—-] | 은 | 는 )? \s* X (?= \s* (?: [,./;|(] | \Z | \n ) )  # B: X, B는 X
    | [)\]*]* \s? [:(=–—-] \s* (?: 틀림 | 틀린 | 오답 | 거짓 | wrong\b | incorrect\b | false\b | no\b )  # B (틀림)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_IS_NOT = re.compile(r"[)\]*]*(?:이|가|은|는)?\s?아[니닙]")  # B가 아닙니다
# A pattern with _BEFORE at its end ends where the letter that it is about starts. `_ends` returns these places.
_BEFORE = r"(?= [A-D] (?![A-Za-z'’]) )"
_DENIED_BEFORE = re.compile(
    rf"""
    (?:
        \b (?: not | except | isn't | nor | neither | cannot\ be | can't\ be
          | (?: all | any | anything | everything | none )\ but )      # all but B
        \s+ (?:to\s)?
      | \b (?: than | over | instead\ of | unlike | as\ opposed\ to | compared\ (?:to|with) | versus
          | prefer \s (?:option\s)? [A-D] \s to )                     # taller than A, I choose B over A
        \s+ (?: (?:that|those|the\ \w+) \s of \s )?
      | \b (?: rul (?:e|ed|ing) \s out | (?: eliminat | exclud | reject | discard | dismiss | remov ) (?:e|ed|ing)? | avoid
        )
        \s+                                                           # I would rule out B
      | (?: \bnot | \bnever | n't | n’t )
        \s (?: choose | pick | select | go\ with | think \s (?: that\s )? it (?: \s is | 's ) )
        \s+                                                           # I would not pick B
    )
    (?:the\s)? (?: (?:choice|option|description|statement|answer)s? \s )? [(\[*\"']* {_BEFORE}  # not option (B
    | (?: (?:그다음|다음) (?:으로|은|에는) | 두\ 번째로 )
      [^.\n]{{0,20}}? {_BEFORE}                                       # 그다음으로 적절한 것은 B
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What names the choices after it as the wrong ones, which is an answer if the question asks for the wrong one.
_NAMED_WRONG = re.compile(
    rf"""
    (?:
        (?:
            (?<!안\s) (?: 틀린 | 틀렸던 | 잘못된 | 그른 | 거짓인 | 거짓 | 허위 | 부적절한 | 부적합한 | 부정확한   # 틀린 것은 B
              | 잘못\ [가-힣]{{1,5}}[한인은된]                            # 잘못 설명한 것은 B
              | (?: 맞 | 옳 | 일치하 | 부합하 | 적절하 | 적합하 | 정확하 | 올바르 | 바르 | 알맞 | 타당하 | 해당하 | 같 )
                지(?:는|도)?\ ?(?: 않[은는] | 못한 | 못하는 )           # 옳지 않은 것은 B
              | [와과]\ (?: 다른 | 상반되는 | 모순되는 | 어긋나는 )  # 사실과 다른 것은 B
              | 모순되는 | 모순된 | 어긋나는 | 거리가\ 먼
              | (?: 오류 | 문제 | 잘못 )[가이]\ 있는                   # 오류가 있는 설명은 B
              | 아닌 | 될\ 수\ 없는 | (?: 제외 | 배제 | 삭제 )(?: 해야\ )?\ ?할 | 제외되는 )
            \s (?: 것 | 건 | 설명문? | 보기 | 선택지 | 옵션 | 문장 | 진술 | 내용 | 답 | 답변 | 하나 | 쪽 | 번호 )들?
          | (?<![가-힣]) (?: 오답 | 거짓 ) (?= 은 | \s?[:=] )           # 오답은 B
        )
        (?: 인 | 은 | 는 | 이 | 가 | \s? [:=] | 을\ (?: 고르면 | 찾으면 | 꼽으면 ) )?
        [^\S\n]* (?: 바로\s | 오직\s )?
        (?: 보기\s | 설명\s | 선택지\s )?
      | (?<!not\s) \b (?: wrong | incorrect | false | untrue | inaccurate | worst | least\s\w+ )
        (?: \s (?: option | choice | answer | statement | description | one | letter )s? )?
        (?: \s (?: is | are | would\ be | here\ is ) | \s? : )        # the wrong option is B
      | \b (?: option | choice | answer | statement | description | one )s?
        \s (?: that | which ) \s (?: is | are | does | do | has | was )
        (?: (?: \s not\b | n't\b | n’t\b ) (?! \s (?: wrong | incorrect | false ) )
          | \s (?: wrong | incorrect | false | untrue | inaccurate )\b
        )
        (?-i:[^A-D.\n,;]){{0,30}}? \s (?: is | are )                   # the one that does not match is B
    )
    [^\S\n]* (?: (?: option | choice | statement | description )s? \s )? [(\[*\"']* {_BEFORE}
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What names the choices after it as not the first ones. A question may ask for these too.
_NAMED_SECOND = re.compile(
    rf"""
    \b (?: (?: second | third | next | fourth )[-\ ](?:[a-z]+\ ){{0,2}}[a-z]+ | runner-up | second | third )
    \ (?:is|are)\ [(\[*\"']* {_BEFORE}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SECOND_AFTER = re.compile(  # B is second
    r"\s(?:is|are|comes?|ranks?|places?)\s(?:only\s)?(?:the\s)?(?:second|third|fourth|last|next|runner-up)\b",
    re.IGNORECASE,
)
# Questions to which a wrong choice is the answer, and questions about another place than the first.
_ASKS_FOR_WRONG = re.compile(
    r"""
    \b (?: which | what | who | where | select | choose | identify )\b
    [^?.\n]{0,200}? (?: \b (?: not | incorrect | wrong | false | untrue | inaccurate | least | except | cannot )\b | n't\b | n’t\b )
    | (?: 않[은는] | 못한 | 틀린 | 잘못된 | 잘못\ [가-힣]+ | 아닌 | 거짓인 | 부적절한 | 거리가\ 먼 | 다른 | 없는 )
      \s (?: 것 | 건 | 설명 | 보기 | 선택지 | 문장 | 하나 )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_FOR_PLACE = re.compile(r"\b(?:second|third|fourth|last|next|runner)\b|번째", re.IGNORECASE)

# Several letters that are joined: A, B와 D; A, C or D. "and C" ends a list: in "among A, B and C, B is …",
# the last B is not of it.
_LISTED = (
    r"(?<![A-Za-z]) (?:(?:[Oo]ption|[Cc]hoice|보기|설명|선택지)\s)? [(\[*\"']* [A-D] (?![A-Za-z'’]) [)\]*\"']* (?:번)?"
)
_LIST = re.compile(
    rf"""
    {_LISTED} (?: \s* , \s* {_LISTED} )*+ (?: \s* ,? \s* (?: and | or | nor | & ) \s+ (?:in\s)? {_LISTED} )+   # A, C or D
    | {_LISTED} (?: \s* (?: , | / | · | {_JOINS} )+ \s* {_LISTED} )+  # A와 B와 D
    """,
    re.VERBOSE,
)
_ALL_OF_THEM = re.compile(r"\s*(?:(?:은|는|이|가)\s)?(?:모두|전부|다\s|둘\s)")  # A, B는 모두
# What precedes a list of which one is chosen: of A and B, …
_OF_LIST = re.compile(
    rf"""
    (?: \b (?: between | among | amongst | out\ of | comparing | considering | looking\ at | reviewing | evaluating | given )
      | (?: ^ | [.!?\n] ) \s* of )
    \s+ (?: (?:the\s)? (?: \w+\s )? (?: options | choices | descriptions | statements ) \s? :? \s )? [(\[*\"']* {_BEFORE}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CANDIDATES_END = re.compile(r"[)\]*\"']*\s?[,:\n]")  # after such a list: of A and B, …
# The head of an item in a list of the choices with their values, in which all have the same mark: A: 20, B: 50; A (20), B (50)
_HEAD = re.compile(r"(?<![A-Za-z])([A-D])[)\]*]*\s?([:=(])")
_MIN_HEADS = 3
# An output that begins with the choices, one per line. A letter alone in the first line is an answer and does not match.
_REPEATED_CHOICES = re.compile(r"\s*+A[.:)](?=[^\n]*\w)[^\n]*+\n++(?:[^\n]++\n++)*?[^\S\n]*+B[.:)]")
_CHOICE_IN_QUESTION = re.compile(r"(?:^|\s)\(?([A-D])[.):]\s")  # (A) Japan, A. Japan
_CHOICE_LINE = re.compile(r"\s*[A-D][.:)]")  # A. Japan
# In an answer, or its last sentence: it may say which choice is not right, so no letter is read from it.
_DENIES = re.compile(r"\bnot\b|n't\b|아[니닙님]")
# A line of an answer to a question with several right choices.
_ONLY_LETTERS = re.compile(r"[\s*().]*[A-Da-d](?:[\s*().]*,\s*[A-D])*[\s*().]*")  # **A**, B


class Letter(NamedTuple):
    """A letter and where it is in a text: `text[start:end]`, in either case."""

    name: str  # A, B, C or D
    start: int
    end: int


def asserted_letter(output: str, choices: Sequence[str] = (), question: str = "") -> str | None:
    """Return the letter that an answer asserts, as in `정답은 B`, `(B)` or `**B**`. None if it asserts none or several.

    An answer that names no letter may end with the text of one of the choices, which are in the order of their letters.
    `틀린 것은 B` asserts B only if the question asks for the wrong choice.
    """
    text = _readable(output)
    if letter := _settled_letter(_Output(text, question)):
        return letter
    return None if _names_in(text) else _letter_of_text(text, choices)


def choices_in_question(question: str) -> list[str]:
    """Return the choices that a question lists as `A. …` to at most `D. …`, or an empty list."""
    rest = _CHOICE_IN_QUESTION.split(question)[1:]
    letters = "".join(rest[::2])
    return [text.strip() for text in rest[1::2]] if letters and LETTERS.startswith(letters) else []


def _letter_of_text(text: str, choices: Sequence[str]) -> str | None:
    """Return the letter of the only choice whose text the last sentence of an answer has, or None.

    Of choices 서울 and 부산, "가장 높은 곳은 부산입니다." gives B, and "서울보다 부산이 높습니다." gives None.
    """
    if not choices or EITHER.search(text):
        return None
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if re.search(r"\w", sentence)]
    if not sentences or _DENIES.search(sentences[-1]):
        return None
    last = _words_of(sentences[-1])
    texts = list(map(_words_of, choices))
    named = [place for place, words in enumerate(texts) if words and re.search(rf"\b{words}(?![a-z\d])", last)]
    if len(named) != 1:
        return None
    words_beside = len(last.split()) - len(texts[named[0]].split())
    return LETTERS[named[0]] if words_beside <= MAX_WORDS_BESIDE else None


def _words_of(text: str) -> str:
    """Return the words of a text in lower case with a space between them: "Sales, in 2020!" → "sales in 2020"."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def asserted_letters(output: str, question: str = "") -> set[str]:
    """Return the letters that an answer to a question with several right choices asserts: "정답: A, C" → {"A", "C"}.

    What follows markers decides; else the only line that has nothing but letters; else the last line with letters, unless
    that is one of the repeated choices. An answer with several letters that offers alternatives ("A or C") or denies
    something asserts none.
    """
    text = _readable(output)
    if letter := _settled_letter(_Output(text, question)):
        return {letter}
    if _repeats_itself(text) or EITHER.search(text) or _DENIES.search(text):
        return set()
    after_markers = (_names_in_sentence(text, marker.end()) for marker in _MARKER.finditer(text))
    marked = [names for names in after_markers if names]
    if marked:
        return marked[0] if all(names == marked[0] for names in marked) else set()
    lines = [line for line in text.splitlines() if line.strip()]
    only_letters = [line for line in lines if _ONLY_LETTERS.fullmatch(line)]
    if only_letters:
        return _names_in(only_letters[0].upper()) if len(only_letters) == 1 else set()
    last = next((line for line in reversed(lines) if _names_in(line)), "")
    return set() if _REPEATED_CHOICES.match(text) and _CHOICE_LINE.match(last) else _names_in(last)


class _List(NamedTuple):
    """The letters that a text joins: A, B와 D."""

    letters: Sequence[Letter]
    has_one_predicate: bool  # else the first may be the answer and the second its reason: B, A는 틀립니다


class _Output:
    """A readable output: which of its letters it denies, given what its question asks for."""

    def __init__(self, text: str, question: str) -> None:
        self.text = text
        self.asks_for_wrong = bool(_ASKS_FOR_WRONG.search(question))
        self._asks_for_place = bool(_ASKS_FOR_PLACE.search(question))
        self._denied_after: dict[int, bool] = {}  # by the end of a letter, whether what follows denies it
        # The starts of letters, by what is before them.
        self._after_marker = _ends(_MARKER, text)  # 정답은 B
        self._named_wrong = _ends(_NAMED_WRONG, text)  # 틀린 것은 B
        self._denied_before = _ends(_DENIED_BEFORE, text)  # not B
        if not self.asks_for_wrong:
            self._denied_before |= self._named_wrong
        if not self._asks_for_place:
            self._denied_before |= _ends(_NAMED_SECOND, text)
        self._list_at = {letter.start: joined for joined in self._lists() for letter in joined.letters}
        of_list = _ends(_OF_LIST, text)
        for start, joined in self._list_at.items():
            if _is_of_candidates(text, joined, of_list):
                self._denied_before.add(start)  # the choice among them comes later

    def denies(self, letter: Letter) -> bool:
        """Return whether the output denies a letter, or only compares with it: not B, B가 아니라, taller than B.

        What is said of a list is said of each of its letters: A와 B는 틀립니다.
        """
        return self._denies_before(letter) or self._denies_after(letter)

    def says_wrong(self, letter: Letter) -> bool:
        """Return whether what follows a letter denies it (B는 틀립니다), and what precedes it does not (not B).

        To a question for the wrong choice, the first names the answer.
        """
        if letter.start in self._after_marker and _IS_NOT.match(self.text, letter.end):  # 정답은 B가 아닙니다
            return False
        return self._denies_after(letter) and not self._denies_before(letter)

    def names_wrong(self, letter: Letter) -> bool:
        """Return whether the output names a letter as the wrong one: 틀린 것은 B."""
        return bool(self._named_wrong & {letter.start, self._group_of(letter)[0].start})

    def named_with(self, letter: Letter) -> list[Letter]:
        """Return a letter and those of its list that the output does not deny: A and B of "A번, B번"."""
        joined = self._list_at.get(letter.start)
        others = [other for other in joined.letters if other != letter and not self.denies(other)] if joined else []
        return [letter, *others]

    def _denies_before(self, letter: Letter) -> bool:
        return bool(self._denied_before & {letter.start, self._group_of(letter)[0].start})

    def _denies_after(self, letter: Letter) -> bool:
        return self._is_denied_after(letter.end) or self._is_denied_after(self._group_of(letter)[-1].end)

    def _is_denied_after(self, end: int) -> bool:
        """Return whether what follows a letter, which ends at `end`, denies it."""
        if end not in self._denied_after:
            patterns = [_DENIED_AFTER, _DENIED_IN_CLAUSE]
            if not self._asks_for_place:
                patterns.append(_SECOND_AFTER)
            self._denied_after[end] = any(pattern.match(self.text, end) for pattern in patterns)
        return self._denied_after[end]

    def _group_of(self, letter: Letter) -> Sequence[Letter]:
        """Return the letters of which the same is said as of a letter."""
        joined = self._list_at.get(letter.start)
        return joined.letters if joined and joined.has_one_predicate else [letter]

    def _lists(self) -> Iterator[_List]:
        """Yield the lists of letters in the text."""
        not_denied = {letter.name for letter in _choices(self.text) if not self._is_denied_after(letter.end)}
        for match in _LIST.finditer(self.text):
            capitals = [
                Letter(c[0], c.start(), c.end()) for c in _ALONE.finditer(self.text, *match.span()) if c[0].isupper()
            ]
            if len(capitals) < 2:
                continue
            last = capitals[-1]
            between = self.text[capitals[0].end : last.start].replace("번", "")  # the 번 of "A번, B번" joins nothing
            has_one_predicate = (
                len(capitals) > 2
                or bool(re.search(r"[a-z가-힣&]", between))  # joined by a word: A와 B, A and B, but not A, B
                or bool(_ALL_OF_THEM.match(self.text, last.end))
                or not not_denied <= {letter.name for letter in capitals}  # another letter may be the answer
            )
            yield _List(capitals, has_one_predicate)


def _ends(pattern: re.Pattern[str], text: str) -> set[int]:
    """Return where the matches of a pattern end in a text."""
    return {match.end() for match in pattern.finditer(text)}


def _is_of_candidates(text: str, joined: _List, of_list: set[int]) -> bool:
    """Return whether one letter of a list is chosen later: of A and B, …; A와 B 중 …

    `of_list` has the starts of the letters after a word such as "between".
    """
    end = joined.letters[-1].end
    if _OF_THEM.match(text, end):
        return True
    return joined.letters[0].start in of_list and bool(_CANDIDATES_END.match(text, end))


def _settled_letter(output: _Output) -> str | None:
    """Return the letter that an output asserts, or None if it asserts none or several.

    The first place with a letter decides, even if later places have others: "정답은 B. A는 틀렸다" → B. It gives None if
    that place has two letters, so that an unclear marker does not make way for a clear line below it.
    """
    text = output.text
    if _repeats_itself(text):
        return None
    choices = _choices(text)
    called_wrong = [letter for letter in choices if output.says_wrong(letter)]
    if output.asks_for_wrong and called_wrong:
        return _only_name(text, called_wrong)  # A는 맞고 B는 틀립니다
    letters = [letter for letter in choices if not output.denies(letter)]
    differ = len({letter.name for letter in letters}) > 1
    if differ and any(_ALSO_POSSIBLE.match(text, letter.end) for letter in letters):
        return None
    for place, found in enumerate(_letters_by_place(output, letters)):
        if place >= _CLEAR_PLACES and differ and _REPEATED_CHOICES.match(text):
            return None  # beside the repeated choices, only a letter at a clear place is an answer
        if found:
            return None if _is_listed(text, letters, found) else _only_name(text, found)
    return None


def _readable(output: str) -> str:
    """Return the stated answer in one character width, with letters out of quotation marks."""
    return _QUOTED.sub(r"\1", unicodedata.normalize("NFKC", stated_answer(output)))


def _repeats_itself(text: str) -> bool:
    """Return whether a text has more markers or conclusions than an answer has."""
    return any(len(pattern.findall(text)) > MAX_LETTERS for pattern in (_MARKER, _CONCLUSION))


def _names_in(text: str) -> set[str]:
    """Return the names of the letters in a text that are choices."""
    return {letter.name for letter in _choices(text)}


def _names_in_sentence(text: str, start: int) -> set[str]:
    """Return the names of the letters from `start` to the end of its sentence."""
    return _names_in(text[start : _sentence_end(text, start)])


@lru_cache(maxsize=8)  # the rules read the same text several times
def _choices(text: str) -> tuple[Letter, ...]:
    """Return the capital letters of a text that are choices, not articles or labels."""
    capitals = (Letter(match[0], match.start(), match.end()) for match in _ALONE.finditer(text) if match[0].isupper())
    return tuple(letter for letter in capitals if not _is_label(text, letter))


def _is_label(text: str, letter: Letter) -> bool:
    """Return whether a letter is an article or names something else than a choice: A chart, B사, B 회사, group C."""
    if _NOUN_BEFORE.search(text, max(0, letter.start - _NOUN_REACH), letter.start) or _NOUN.match(text, letter.end):
        return True
    following = text[letter.end : letter.end + 1]
    if "가" <= following <= "힣":
        return not _PARTICLE.match(text, letter.end)
    return letter.name == "A" and bool(_WORD.match(text, letter.end)) and not _AFTER_CHOICE_A.match(text, letter.end)


def _letters_by_place(output: _Output, letters: Sequence[Letter]) -> Iterator[list[Letter]]:
    """Yield the letters at each place where answers are given, the most reliable place first.

    `letters` are all choices of the text that it does not deny. The first _CLEAR_PLACES places are clear even in an output
    that repeats the choices.
    """
    text = output.text
    if output.asks_for_wrong:
        yield [letter for letter in letters if output.names_wrong(letter)]  # 틀린 것은 B
    else:
        yield []  # so that the first _CLEAR_PLACES are always the same ones
    yield [letter for marker in _MARKER.finditer(text) for letter in _after(output, marker.end(), letters)]  # 정답: B
    yield [letter for conclusion in _CONCLUSION.finditer(text) for letter in _after(output, conclusion.end(), letters)]
    yield _below_choices(output)
    yield _matched(output, _LINE)  # a line with nothing but B
    yield _matched(output, _CHECKED_LINE)  # B. … ✅
    affirmed = [letter for letter in letters if _AFFIRMED_AFTER.match(text, letter.end)]  # B가 맞습니다
    yield [*affirmed, *_matched(output, _CHOSEN)]  # I would choose B
    values_end = _end_of_values(text, letters)
    if values_end is not None:
        yield [letter for letter in letters if letter.start >= values_end]  # A: 20, B: 50. The largest is B
    yield _matched(output, _FIRST)  # B. …
    yield _matched(output, _EMPHASIZED)  # … (B) …
    yield list(letters)


def _below_choices(output: _Output) -> list[Letter]:
    """Return the letter alone in the last line of an output that repeats the choices, or an empty list."""
    text = output.text
    if not _REPEATED_CHOICES.match(text):
        return []
    alone = _matched(output, _LINE)
    if not alone or re.search(r"\w", text[alone[-1].end :]):
        return []
    # It answers only if the choice of this letter is above. Else it is itself the last of the choices, cut off: "D."
    above = text[: alone[-1].start]
    return alone[-1:] if re.search(rf"^[ \t]*{alone[-1].name}[.:)]", above, re.MULTILINE) else []


def _end_of_values(text: str, letters: Sequence[Letter]) -> int | None:
    """Return the end of the sentence that lists the choices with their values, or None if none of `letters` is after it."""
    starts = {letter.start for letter in letters}
    heads = [match for match in _HEAD.finditer(text) if match.start(1) in starts]
    names = [match[1] for match in heads]
    is_list = len(names) >= _MIN_HEADS and LETTERS.startswith("".join(names)) and len({m[2] for m in heads}) == 1
    if not is_list:
        return None
    end = _sentence_end(text, heads[-1].end())
    arrow = text.find("→", heads[-1].end(), end)
    if arrow >= 0:
        end = arrow  # A: 20, B: 50, C: 30 → B
    return end if any(letter.start >= end for letter in letters) else None


def _after(output: _Output, start: int, letters: Sequence[Letter]) -> list[Letter]:
    """Return the letter right after a marker, in either case, or else the last of `letters` in its sentence.

    `start` is the end of the marker. "정답은 b" → B; "정답은 A를 뺀 것 중 B입니다" → B. Letters that are joined with another
    candidate are returned too: "정답은 보기의 A 또는 B" → A, B.
    """
    text = output.text
    if direct := _DIRECT.match(text, start):
        letter = Letter(direct[1].upper(), direct.start(1), direct.end(1))
        if not output.denies(letter) and not _is_label(text, letter):
            return output.named_with(letter)
    end = _sentence_end(text, start)
    in_sentence = [letter for letter in letters if start <= letter.start < end]
    joined = [letter for letter in in_sentence[:-1] if _CANDIDATE_AFTER.match(text, letter.end)]
    return [*joined, *in_sentence[-1:]]


def _sentence_end(text: str, start: int) -> int:
    end = _SENTENCE_END.search(text, start)
    return end.start() if end else len(text)


def _matched(output: _Output, pattern: re.Pattern[str]) -> list[Letter]:
    """Return the letters in the group of a pattern that are choices and not denied."""
    found = []
    for match in pattern.finditer(output.text):
        group = match.lastindex or 1
        letter = Letter(match[group].upper(), match.start(group), match.end(group))
        if not output.denies(letter) and not _is_label(output.text, letter):
            found.append(letter)
    return found


def _is_listed(text: str, letters: Sequence[Letter], found: Sequence[Letter]) -> bool:
    """Return whether one of the letters found is the end of a list: A, B, C가 맞습니다."""
    starts = {letter.start for letter in found}
    return any(
        following.start in starts
        and _BETWEEN.fullmatch(text, letter.end, following.start)
        and not _OF_THEM.match(text, following.end)
        for letter, following in pairwise(letters)
    )


def _only_name(text: str, found: Sequence[Letter]) -> str | None:
    """Return the name of the letters found, or None if they differ or one of them is beside another candidate."""
    names = {letter.name for letter in found}
    if len(names) != 1 or len(found) > MAX_LETTERS:
        return None
    has_others = _names_in(text) != names
    if has_others and any(_CANDIDATE_AFTER.match(text, letter.end) for letter in found):
        return None
    return names.pop()
