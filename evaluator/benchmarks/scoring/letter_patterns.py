"""Define the patterns by which `letters` finds the letter that an answer settles on.

The parts, in this order:
- which letters are choices
- places where answers are given
- several letters: does another candidate follow, are two letters joined, is something said of a whole list
- what denies a letter
- what a question asks for
- choices as an output or a question repeats them
"""

import re

# Which letters are choices: what may follow one in Hangul, and the nouns whose labels are not choices.
PARTICLE = re.compile(
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
NOUN = re.compile(
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
AFTER_CHOICE_A = re.compile(
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
WORD = re.compile(r"\s+[a-z]")  # after an article: A chart
ALONE = re.compile(r"(?<![A-Za-z'’])[A-Da-d](?![A-Za-z'’]|-[a-z])")  # not part of a word: not in PDF, A's, A-list
QUOTED = re.compile(r"['‘’\"“”`]([A-D])['‘’\"“”`]")  # "B"
NOUN_BEFORE = re.compile(
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
MARKER = re.compile(
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
DIRECT = re.compile(r"[\s(\[*\"'“‘]*([A-Da-d])(?![A-Za-z'’])")  # right after a marker: (b), **B**
CONCLUSION = re.compile(
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
SENTENCE_END = re.compile(r"[.!?。](?=\s|\Z)|\n")  # not in 3.5
AFFIRMED_AFTER = re.compile(
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
CHOSEN = re.compile(  # a letter after a verb of choice
    r"""
    (?: \b (?:I|we) (?: ['’] (?: d | ll | m | ve | re ) )? \s (?: would\s | will\s | have\s | must\s | am\s )? (?: therefore\s | thus\s )?
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
FIRST = re.compile(  # the answer's first word
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
LINE = re.compile(r"^[ \t(\[*\"']*([A-D])[)\]*\"'.]*[ \t]*$", re.MULTILINE)  # nothing else in its line
CHECKED_LINE = re.compile(  # "B. The share of … fell. ✅"
    r"^[^\nA-D]*(?:option\s|choice\s)?([A-D])[.):][^\n]*[✅✔✓⭕]\s*$", re.MULTILINE | re.IGNORECASE
)
EMPHASIZED = re.compile(r"(?:\(|\[|\*\*)([A-D])(?:\)|\]|\*\*)")  # (B), [B], **B**

# Several letters. The first strings are parts of verbose patterns.
_CLOSING_MARKS = r"[)\]*\"']* (?:\.|번)?"  # brackets, bold, quotes, "." or "번" after a letter
_NEXT_LETTER = r"[(\[*\"']* [A-D] (?![A-Za-z])"
_OR = r"또는 | 혹은 | 아니면 | 이?나 | or\b"
# Words between letters that are named together.
_JOINS = r"(?: 또는 | 혹은 | 아니면 | 내지 | 이?나 | 및 | 와 | 과 | 하고 | 이?랑 | 그리고 )"
# A pattern with _BEFORE at its end ends where the letter that it is about starts.
_BEFORE = r"(?= [A-D] (?![A-Za-z'’]) )"
# Follows a letter if another candidate is named beside it, so that the answer is undecided. No particle may follow
# that one, because it may begin a new clause: "B, A는 …". Only after "or" may one: "A 또는 B는".
CANDIDATE_AFTER = re.compile(
    rf"""
    {_CLOSING_MARKS} \s*
    (?: (?: {_JOINS}                                                  # A 또는 B, A와 B
          | — | [,/~|·&] | (?<!\n)-                                   # A, B; A/B; A-B, but not an item of a list
          | or\b | and\b                                              # A or B
        )
        \s*
    )+
    [(\[*\"']* (?!(?-i:a\s+[a-z])) [A-D]                          # but not an article: B, a decline
    (?:번)? (?: 입니다 | 이다 | 예요 | 이에요 )? (?![A-Za-z가-힣])    # A번, B번입니다, but not B, A는
    (?!{_CLOSING_MARKS}\s*중)                                        # nor A, B 중
    | {_CLOSING_MARKS} \s* (?: (?:{_OR}) \s* )+ {_NEXT_LETTER}        # A 또는 B입니다: a particle may follow
    | \)\s*\([A-D]\)                                                  # (A) (B)
    | {_CLOSING_MARKS}
      (?: \s+ {_NEXT_LETTER} {_CLOSING_MARKS} )+ \s* (?:\Z|\n)        # A B C D at the end of a line
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Between two letters that were found and are named together.
BETWEEN = re.compile(
    rf"""
    [)\]*\"'\s]* (?:번)? \s*
    (?:
        (?: {_JOINS}                                                  # A와 B, A번과 B
          | [,/~|·&] | (?<!\n)-                                       # A, B
          | or\b | and\b                                              # A and B
        )
        [\s(\[*\"']*
    )+
    """,
    re.IGNORECASE | re.VERBOSE,
)
OF_THEM = re.compile(r"[)\]*\"']*(?:번)?\s*(?:중|가운데)")  # after the list of which one is chosen: A와 B 중 B
ALSO_POSSIBLE = re.compile(
    r"""
    [)\]*\"']* (?:번)? \s* (?: 도 | 역시 | 일\ 수도? )
    \s* (?: 가능 | 맞 | 적절 | 옳 | 해당 | 정답 | 될 | 있 )           # B도 가능합니다, B일 수 있습니다
    | \s (?: is | are | could | might | may )
      \s (?: also | be | equally )
      \s (?: possible | correct | right | plausible )                 # B is also possible
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A list of letters of which the same may be said: A, B와 D; A, C or D. "and C" ends a list: in "among A, B and C, B is …",
# the last B is not of it.
_LISTED = (
    r"(?<![A-Za-z]) (?:(?:[Oo]ption|[Cc]hoice|보기|설명|선택지)\s)? [(\[*\"']* [A-D] (?![A-Za-z'’]) [)\]*\"']* (?:번)?"
)
LIST = re.compile(
    rf"""
    {_LISTED} (?: \s* , \s* {_LISTED} )*+ (?: \s* ,? \s* (?: and | or | nor | & ) \s+ (?:in\s)? {_LISTED} )+   # A, C or D
    | {_LISTED} (?: \s* (?: , | / | · | {_JOINS} )+ \s* {_LISTED} )+  # A와 B와 D
    """,
    re.VERBOSE,
)
ALL_OF_THEM = re.compile(r"\s*(?:(?:은|는|이|가)\s)?(?:모두|전부|다\s|둘\s)")  # A, B는 모두
# What precedes a list of which one is chosen: of A and B, …
OF_LIST = re.compile(
    rf"""
    (?: \b (?: between | among | amongst | out\ of | comparing | considering | looking\ at | reviewing | evaluating | given )
      | (?: ^ | [.!?\n] ) \s* of )
    \s+ (?: (?:the\s)? (?: \w+\s )? (?: options | choices | descriptions | statements ) \s? :? \s )? [(\[*\"']* {_BEFORE}
    """,
    re.IGNORECASE | re.VERBOSE,
)
CANDIDATES_END = re.compile(r"[)\]*\"']*\s?[,:\n]")  # after such a list: of A and B, …
# What follows or precedes a letter that the answer denies. DENIED_AFTER and DENIED_IN_CLAUSE are tried together: the first has
# what follows the letter at once, the second also what comes later in its clause.
DENIED_AFTER = re.compile(
    r"""
    [)\]*\"']* (?:번)? (?: 이 | 가 | 은 | 는 | 도 | 만 | 만이 | 를 | 을 | : )? [^\S\n]*
    (?:
        아니(?!면) | 아닙 | 아님                                      # B가 아니라, but not 아니면 (or)
      | (?: (?:is|are)\s* )? (?: not\b | incorrect | wrong | false )  # B is not
      | 틀[리렸린립](?!지\s?않) | 오답 | 거짓 | [❌✗]                 # B는 틀립니다, B: ❌, but not 틀리지 않았다
      | 제외 | 배제 | 빼(?:고|면) | 뺀 | 지우[고면] | 외의 | 고르면(?!\s?[됩된돼])   # B를 제외하면, B를 빼고, B 외의
      | 인지 | \? | (?:맞|옳)(?: 지\s*않 | 을까 )                     # B인지, B?, B가 맞을까
      | (?: 선택하 | 택하 | 고르 )지\s*(?: 않(?!을\s수\s없) | 못 )    # B를 선택하지 않겠습니다, but not 않을 수 없다
      | (?: 선택할 | 택할 | 고를 )\s수(?:는|가)?\s없                # B를 고를 수 없습니다
    )
    | [^\S\n]* 보다(?:는)?\s (?: 더\s )?
      [^.\n]{0,30}? (?: 적절 | 정확 | 적합 | 맞[다는습] | 낫 | 나은 | 낫습 )  # A보다 B가 더 적절합니다
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OTHERS = r"(?: 나머지 | 그\s?외 | 그\s?밖 | (?: 다른 | 기타 | 남은 )\s(?: 보기 | 설명 | 선택지 | 것 | 셋 | 세 ) )"
DENIED_IN_CLAUSE = re.compile(
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
# Follows the letter of "정답은 B가 아닙니다". That is not the answer, but it is not called wrong either, which counts if the
# question asks for the wrong choice.
IS_NOT = re.compile(r"[)\]*\"']*(?:번)?(?:이|가|은|는)?\s?아[니닙]")
DENIED_BEFORE = re.compile(
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
NAMED_WRONG = re.compile(
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
NAMED_SECOND = re.compile(
    rf"""
    \b (?: (?: second | third | next | fourth )[-\ ](?:[a-z]+\ ){{0,2}}[a-z]+ | runner-up | second | third )
    \ (?:is|are)\ [(\[*\"']* {_BEFORE}
    """,
    re.IGNORECASE | re.VERBOSE,
)
SECOND_AFTER = re.compile(  # B is second
    r"\s(?:is|are|comes?|ranks?|places?)\s(?:only\s)?(?:the\s)?(?:second|third|fourth|last|next|runner-up)\b",
    re.IGNORECASE,
)
# Questions to which a wrong choice is the answer, and questions about another place than the first.
ASKS_FOR_WRONG = re.compile(
    r"""
    \b (?: which | what | who | where | select | choose | identify )\b
    [^?.\n]{0,200}? (?: \b (?: not | incorrect | wrong | false | untrue | inaccurate | least | except | cannot )\b | n't\b | n’t\b )
    | (?: 않[은는] | 못한 | 틀린 | 잘못된 | 잘못\ [가-힣]+ | 아닌 | 거짓인 | 부적절한 | 거리가\ 먼 | 다른 | 없는 )
      \s (?: 것 | 건 | 설명 | 보기 | 선택지 | 문장 | 하나 )
    """,
    re.IGNORECASE | re.VERBOSE,
)
ASKS_FOR_PLACE = re.compile(r"\b(?:second|third|fourth|last|next|runner)\b|번째", re.IGNORECASE)

# The head of an item in a list of the choices with their values, in which all have the same mark: A: 20, B: 50; A (20), B (50)
HEAD = re.compile(r"(?<![A-Za-z])([A-D])[)\]*]*\s?([:=(])")
# An output that begins with the choices, one per line. A letter alone in the first line is an answer and does not match.
REPEATED_CHOICES = re.compile(r"\s*+A[.:)](?=[^\n]*\w)[^\n]*+\n++(?:[^\n]++\n++)*?[^\S\n]*+B[.:)]")
CHOICE_IN_QUESTION = re.compile(r"(?:^|\s)\(?([A-D])[.):]\s")  # (A) Japan, A. Japan
CHOICE_LINE = re.compile(r"\s*[A-D][.:)]")  # A. Japan
# If this is in an answer or its last sentence, the answer may say which choice is not right, so no letter is read from it.
DENIES = re.compile(r"\bnot\b|n't\b|아[니닙님]")
# A line of an answer to a question with several right choices.
ONLY_LETTERS = re.compile(r"[\s*().]*[A-Da-d](?:[\s*().]*,\s*[A-D])*[\s*().]*")  # **A**, B
