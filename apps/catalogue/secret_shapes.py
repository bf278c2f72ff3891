"""The table of secret shapes: provider tokens by prefix, and names of secret fields.

`secrets.py` does the looking. Everything here works on bytes, because redaction
runs on raw JSON documents before they are parsed.
"""

import re
from collections.abc import Iterable

# A token may follow a letter only if that letter ends an escape: `\n` in raw JSON,
# `=` as json.dumps writes it for HTML, `%3D` in a URL.
_LEFT = (
    rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})"
    rb"|(?<=%[0-9A-Fa-f]{2}))"
)
_T = rb"[A-Za-z0-9_-]"  # what a run is made of
_HAS_DIGIT = rb"(?=[A-Za-z_-]{0,200}[0-9])"

# (kind, prefixes, pattern). The prefixes find where a pattern may begin; they are
# sought in the document's long runs only, the pattern is tried at few places.
SHAPES: tuple[tuple[str, str, bytes], ...] = (
    ("anthropic_key", "sk-ant-", rb"sk-ant-" + _T + rb"{16,}"),
    ("openrouter_key", "sk-or-", rb"sk-or-" + _T + rb"{20,}"),
    ("langfuse_key", "sk-lf- pk-lf-", rb"[sp]k-lf-" + _T + rb"{20,}"),
    (
        "openai_key",
        "sk- sess-",
        rb"(?:sk-(?:proj|svcacct|admin|None)-" + _T + rb"{20,}|(?:sk|sess)-"
        rb"(?=[A-Za-z]{0,200}[0-9])[A-Za-z0-9]{20,}" + _T + rb"*)",
    ),
    ("aws_key_id", "AKIA ASIA ABIA ACCA", rb"A(?:KI|SI|BI|CC)A[A-Z2-7]{16,}"),
    (
        "github_token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        rb"gh[pousr]_[A-Za-z0-9]{30,}" + _T + rb"*",
    ),
    ("github_token", "github_pat_", rb"github_pat_" + _T + rb"{22,}"),
    (
        "gitlab_token",
        "glpat- glptt- glrt- gldt- glft- glcbt- glsoat- gloas- glagent- glimt-",
        rb"gl(?:pat|ptt|rt|dt|ft|cbt|soat|oas|agent|imt)-" + _T + rb"{20,}",
    ),
    ("slack_token", "xox", rb"xox[abeoprs](?:\.xox[bp])?-" + _T + rb"{10,}"),
    ("slack_token", "xapp-", rb"xapp-[0-9]-" + _T + rb"{16,}"),
    (
        "stripe_key",
        "sk_live_ sk_test_ rk_live_ rk_test_",
        rb"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}" + _T + rb"*",
    ),
    ("stripe_key", "whsec_", rb"whsec_[A-Za-z0-9+/]{24,}=*"),
    ("google_key", "AIza", rb"AIza" + _T + rb"{35,}"),
    ("google_token", "ya29.", rb"ya29\." + _T + rb"{20,}"),
    ("google_secret", "GOCSPX-", rb"GOCSPX-" + _T + rb"{20,}"),
    ("npm_token", "npm_", rb"npm_[A-Za-z0-9]{36,}"),
    ("pypi_token", "pypi-Ag", rb"pypi-Ag" + _T + rb"{40,}"),
    ("huggingface_token", "hf_", rb"hf_[A-Za-z0-9]{30,}"),
    ("sendgrid_key", "SG.", rb"SG\." + _T + rb"{20,}(?:\." + _T + rb"{20,})?"),
    ("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", rb"do[opr]_v1_[0-9a-f]{40,}"),
    (
        "shopify_token",
        "shpat_ shpca_ shppa_ shpss_",
        rb"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,}",
    ),
    ("twilio_key", "SK", rb"SK[0-9a-f]{32}" + _T + rb"*"),
    ("mailgun_key", "key-", rb"key-[0-9a-f]{32}" + _T + rb"*"),
    ("groq_key", "gsk_", rb"gsk_[A-Za-z0-9]{40,}"),
    ("xai_key", "xai-", rb"xai-[A-Za-z0-9]{40,}"),
    ("perplexity_key", "pplx-", rb"pplx-[A-Za-z0-9]{32,}"),
    ("replicate_token", "r8_", rb"r8_[A-Za-z0-9]{32,}"),
    ("tavily_key", "tvly-", rb"tvly-" + _HAS_DIGIT + _T + rb"{20,}"),
    ("langsmith_key", "lsv2_", rb"lsv2_[a-z]{2}_[0-9a-f]{32}" + _T + rb"*"),
    ("databricks_token", "dapi", rb"dapi[0-9a-f]{32}(?:-[0-9])?"),
    ("grafana_token", "glsa_ glc_", rb"gl(?:sa|c)_[A-Za-z0-9+/_=-]{32,}"),
    ("vault_token", "hvs. hvb. hvr.", rb"hv[sbr]\." + _T + rb"{20,}"),
    ("docker_token", "dckr_", rb"dckr_[a-z]{3}_" + _T + rb"{20,}"),
    ("linear_key", "lin_api_", rb"lin_api_[A-Za-z0-9]{30,}"),
    ("notion_token", "ntn_", rb"ntn_[A-Za-z0-9]{40,}"),
    ("figma_token", "figd_ figo_ figu_", rb"fig[dou]_" + _T + rb"{36,}"),
    ("postman_key", "PMAK-", rb"PMAK-[0-9a-f]{24}-[0-9a-f]{30,}"),
    ("rubygems_key", "rubygems_", rb"rubygems_[0-9a-f]{40,}"),
    ("square_token", "sq0atp- sq0csp-", rb"sq0(?:atp|csp)-" + _T + rb"{22,}"),
    ("sentry_token", "sntrys_ sntryu_", rb"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    ("supabase_key", "sbp_ sb_secret_", rb"sb(?:p|_secret)_" + _T + rb"{20,}"),
    ("atlassian_token", "ATATT3", rb"ATATT3[A-Za-z0-9_=-]{60,}"),
    ("age_key", "AGE-SECRET-", rb"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    (
        "jwt",
        "eyJ",
        # Bounded and possessive: a hostile run of `-eyJ-eyJ…` must stay linear.
        rb"eyJ" + _T + rb"{12,2048}+\.(?:eyJ" + _T + rb"{4,}(?:\." + _T + rb"*)*"
        rb"|" + _T + rb"*(?:\." + _T + rb"*){3})",
    ),
    (
        "discord_token",
        "M N O",
        rb"[MNO]" + _T + rb"{23,25}\." + _T + rb"{6}\." + _T + rb"{27,}",
    ),
    (
        "bearer_token",
        "Bearer bearer",
        rb"[Bb]earer +(?P<v_bearer>" + _HAS_DIGIT + rb"[A-Za-z0-9._~+/-]{20,}=*)",
    ),
)

# Shapes whose beginning says nothing by itself: what stands before must agree too.
# (kind, hint and pattern: both begin at a character that is no letter and no digit)
AFTER: tuple[tuple[str, bytes, bytes], ...] = (
    ("telegram_token", rb":AA", rb":(?<=[0-9]{8}:)(?P<v_telegram>AA" + _T + rb"{33,})"),
    (
        "slack_webhook",
        rb"/B[0-9A-Z]{7}",
        rb"/(?P<v_slack>B[0-9A-Z]{7,11}/[A-Za-z0-9]{20,})",
    ),
    (
        "discord_webhook",
        rb"/(?<=[0-9]{12}/)",
        rb"/(?<=[0-9]{16}/)(?P<v_discord>" + _T + rb"{60,})",
    ),
    (
        "url_signature",
        rb"=(?<=sig=|ure=)",
        rb"=(?:(?<=ignature=)|(?<=[?&]sig=))(?P<v_signature>[A-Za-z0-9%+/_-]{32,}=*)",
    ),
    (
        "session_cookie",
        rb"=(?<=SSID=|ONID=|onid=|onId=|.sid=)",
        rb"=(?<=SSID=|ONID=|onid=|onId=|.sid=)"
        rb"(?P<v_session>(?:s%3A)?[A-Za-z0-9._!+/-]{20,})",
    ),
)


def _trie(words: list[bytes]) -> bytes:
    """Write words as one pattern that looks at each character once."""
    if b"" in words:
        return b""
    branches = []
    for first in sorted({word[:1] for word in words}):
        rest = [word[1:] for word in words if word[:1] == first]
        branches.append(re.escape(first) + _trie(rest))
    return branches[0] if len(branches) == 1 else b"(?:" + b"|".join(branches) + b")"


def _alternation(
    letter: str, table: Iterable[tuple[str, bytes]]
) -> tuple[bytes, dict[str, str]]:
    """Join patterns into one, each in a group; also say which group is which kind."""
    kinds, parts = {}, []
    for number, (kind, pattern) in enumerate(table):
        kinds[f"{letter}{number}"] = kind
        parts.append(b"(?P<%s%d>%s)" % (letter.encode(), number, pattern))
    return b"(?:" + b"|".join(parts) + b")", kinds


_SHAPES, _SHAPE_KINDS = _alternation("s", ((kind, p) for kind, _, p in SHAPES))
_AFTER, _AFTER_KINDS = _alternation("a", ((kind, p) for kind, _, p in AFTER))
# What follows a token without a break goes with it: else it could look like a token
# of its own once the first one is gone.
TOKEN = re.compile(_LEFT + _SHAPES + _T + rb"*|" + _AFTER)
KIND_BY_GROUP = _SHAPE_KINDS | _AFTER_KINDS

# Each begins with one class, which `re` skips to fast. A match of the first begins at
# the character before the token.
HINTS = re.compile(
    rb"[^A-Za-z0-9]"
    + _trie(" ".join(prefixes for _, prefixes, _ in SHAPES).encode().split())
)
AFTER_HINTS = re.compile(
    rb"[:/=](?:" + b"|".join(b"(?<=%s)%s" % (h[:1], h[1:]) for _, h, _ in AFTER) + rb")"
)

# Names of fields whose value is a secret, by the keyword that the scan looks for.
# `_SEP` because `compass`, `bypass`, `monkey`, `max_tokens` name no secret.
_TOKEN_OWNERS = (
    rb"access|refresh|auth|authentication|id|api|bearer|bot|session|csrf|xsrf|security"
    rb"|private|personal|deploy|oauth|oauth2|app|user|client|github|gh|gitlab|slack|npm"
    rb"|hf|ci|job|service|login|jwt|webhook|push|device|sas|vault|admin|secret|discord"
    rb"|telegram|account|hub|pypi|bearertoken"
)
_KEY_OWNERS = (
    rb"api|access|secret|private|account|shared[_-]?access|encryption|signing|master"
    rb"|auth|subscription|secret[_-]?access|license|service|client|consumer|webhook"
    rb"|admin|deploy|hmac|jwt|session"
)
FIELD_NAMES: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("password", re.compile(rb"(?:.*(?:password|passwd|passphrase|passcode)|"
                            rb"(?:.*[_.-])?(?:pass|pw|pwd)|[a-z]{2,10}pwd)[0-9]?")),
    ("secret", re.compile(rb".*secret(?:[_-]?(?:access[_-]?)?(?:key|token|value))?")),
    ("token", re.compile(rb"(?:.*[_.-])?(?:%s)[_.-]?token|token|.*accesstoken"
                         % _TOKEN_OWNERS)),
    ("api_key", re.compile(rb"(?:.*[_.-])?(?:%s)[_.-]?key|.*apikey|.*accountkey"
                           rb"|sharedaccesskey" % _KEY_OWNERS)),
)  # fmt: skip

# Values that stand where a secret would and are none: types, flags, placeholders.
NO_SECRET = re.compile(
    rb"(?i)(?:none|null|nil|true|false|undefined|str|string|bytes|text|number|integer"
    rb"|int|bool|boolean|object|array|secretstr|optional|required|missing|invalid|empty"
    rb"|hidden|redacted|masked|removed|unset|yes|no|n/a|password|passwd|secret|token"
    rb"|any|unknown|expired|revoked|x{3,}|\*+|\.{3,}|-+|_+|\$\{?[\w.:-]*\}?|%\w+%|%[sdr]"
    rb"|<[^<>]*>|\{\{?[^{}]*\}?\}|\[[a-z][a-z0-9_]*\]|your[-_ ].*|my[-_](?:secret|key"
    rb"|token|password)|(?:process\.env|os\.environ|os\.getenv|self|cls|args|config"
    rb"|settings|env|secrets|params|request|options|ctx|this)\b.*)"
)
PROSE = re.compile(
    rb"(?i)\b(?:is|are|was|must|be|been|the|required|should|least|characters|not|this"
    rb"|field|cannot|invalid|incorrect|does|did|please|your|enter|has|have|of|for|to"
    rb"|wrong|missing|too|blank|match|expired|and|or|with|from)\b"
)
