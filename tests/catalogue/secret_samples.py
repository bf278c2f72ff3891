"""Secrets of every kind, and what only looks like one.

Tokens are put together here, so that no scanner takes this file for a leak.
"""

import json
import string

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def fake(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    """Make the part of a token that looks random; its second half has digits."""
    out, state = [], seed
    for _ in range(length):
        state = (state * 1103515245 + 12345) % 2**31
        out.append(alphabet[(state >> 16) % len(alphabet)])
    return "".join(out[:-1]) + "4"


JWT = ".".join(("ey" + "JhbGciOiJIUzI1NiJ9", "ey" + "JzdWIiOiIxMjM0In0", fake(43)))
TOKENS = {
    "anthropic_key": "sk-" + "ant-api03-" + fake(90) + "-" + fake(8),
    "openai_key": "sk-" + "proj-" + fake(60) + "_" + fake(20),
    "openrouter_key": "sk-" + "or-v1-" + fake(64, HEX),
    "langfuse_key": "sk-" + "lf-" + fake(8, HEX) + "-" + fake(24, HEX),
    "aws_key_id": "AK" + "IA" + fake(16, UPPER),
    "github_token": "gh" + "p_" + fake(36),
    "gitlab_token": "gl" + "pat-" + fake(20),
    "slack_token": "xo" + "xb-" + fake(12, "123456789") + "-" + fake(24),
    "stripe_key": "sk" + "_live_" + fake(24),
    "google_key": "AI" + "za" + fake(35),
    "google_token": "ya" + "29." + fake(60),
    "google_secret": "GOC" + "SPX-" + fake(28),
    "npm_token": "np" + "m_" + fake(36),
    "pypi_token": "py" + "pi-AgEIcHlwaS5vcmc" + fake(80),
    "huggingface_token": "h" + "f_" + fake(34),
    "sendgrid_key": "S" + "G." + fake(22) + "." + fake(43),
    "digitalocean_token": "do" + "p_v1_" + fake(64, HEX),
    "shopify_token": "shp" + "at_" + fake(32, HEX),
    "twilio_key": "S" + "K" + fake(32, HEX),
    "mailgun_key": "ke" + "y-" + fake(32, HEX),
    "groq_key": "gs" + "k_" + fake(52),
    "xai_key": "xa" + "i-" + fake(80),
    "perplexity_key": "ppl" + "x-" + fake(48),
    "replicate_token": "r" + "8_" + fake(37),
    "tavily_key": "tv" + "ly-dev-" + fake(32),
    "langsmith_key": "ls" + "v2_pt_" + fake(32, HEX) + "_" + fake(10, HEX),
    "databricks_token": "da" + "pi" + fake(32, HEX),
    "grafana_token": "gl" + "sa_" + fake(32) + "_" + fake(8, HEX),
    "vault_token": "hv" + "s." + fake(90),
    "docker_token": "dck" + "r_pat_" + fake(27),
    "linear_key": "li" + "n_api_" + fake(40),
    "notion_token": "nt" + "n_" + fake(46),
    "figma_token": "fi" + "gd_" + fake(40),
    "postman_key": "PM" + "AK-" + fake(24, HEX) + "-" + fake(34, HEX),
    "rubygems_key": "ruby" + "gems_" + fake(48, HEX),
    "square_token": "sq" + "0atp-" + fake(22),
    "sentry_token": "snt" + "rys_" + fake(60),
    "supabase_key": "sb" + "p_" + fake(40, HEX),
    "atlassian_token": "ATA" + "TT3xFfGF0" + fake(170),
    "age_key": "AGE-" + "SECRET-KEY-1" + fake(58, UPPER),
    "jwt": JWT,
    "discord_token": "M" + fake(24) + "." + fake(6) + "." + fake(38),
}
URL = "postgres" + "://app:"
PEM = "-----BEGIN RSA " + "PRIVATE KEY-----"
END = "-----END RSA " + "PRIVATE KEY-----"
LINES = f"\n{fake(64)}\n{fake(64, seed=3)}\n{fake(20)}==\n"
BASIC = "dXNlcjpo" + "dW50ZXIy"  # user:hunter2
S1, S2, S3 = "hunter" + "2", "Tr0ub4dor" + "&3", fake(24)
# (text, what is left of it)
CASES = [
    # passwords
    (f"password={S1}", "password=[password]"),
    (f"login failed password={S1} attempt=3", "login failed password=[password] "
     "attempt=3"),
    (f'{{"password": "{S2}"}}', '{"password": "[password]"}'),
    (f"{{'passwd': '{S2}'}}", "{'passwd': '[password]'}"),
    (f"DB_PASSWORD={S1}\nDB_HOST=x", "DB_PASSWORD=[password]\nDB_HOST=x"),
    (f"  password: {S1}\n  user: bob", "  password: [password]\n  user: bob"),
    (f"mysql --password {S1} -h x", "mysql --password [password] -h x"),
    (f"mysql --password={S1} -h x", "mysql --password=[password] -h x"),
    (f'conn(password="{S2}", x=1)', 'conn(password="[password]", x=1)'),
    ('{"password": "correct horse battery"}', '{"password": "[password]"}'),
    (r'{"password": "a\"b' + S1 + '"}', '{"password": "[password]"}'),
    (r'{"a": "{\"password\": \"x\\\"' + S1 + r'\", \"b\": 1}"}',
     r'{"a": "{\"password\": \"[password]\", \"b\": 1}"}'),
    ('{"password": 83517264, "a": 1}', '{"password": 0, "a": 1}'),
    (f"userPassword: {S1}", "userPassword: [password]"),
    (f"Server=db;Uid=sa;Pwd={S1};Encrypt=yes", "Server=db;Uid=sa;Pwd=[password];"
     "Encrypt=yes"),
    (f"relay=x:25 auth=svc-mailer password=pw-{fake(8, HEX)} attempt=4",
     "relay=x:25 auth=svc-mailer password=[password] attempt=4"),
    # URLs and connection strings
    (f"{URL}{S1}@db.internal:5432/x", f"{URL}[url_password]@db.internal:5432/x"),
    (f"redis://:{S1}@cache:6379/0", "redis://:[url_password]@cache:6379/0"),
    (f"mongodb+srv://a:{S1}@c.example.net/?x=1",
     "mongodb+srv://a:[url_password]@c.example.net/?x=1"),
    (f"https://bob:{S1}@example.com/a", "https://bob:[url_password]@example.com/a"),
    (f"AccountName=x;AccountKey={fake(86)}==;EndpointSuffix=y",
     "AccountName=x;AccountKey=[api_key];EndpointSuffix=y"),
    (f"https://x.blob/y?sv=1&sig={fake(44)}%3D", "https://x.blob/y?sv=1&sig="
     "[url_signature]"),
    (f"?X-Amz-Signature={fake(64, HEX)}&x", "?X-Amz-Signature=[url_signature]&x"),
    # named keys, tokens, secrets
    (f'{{"api_key": "{S3}"}}', '{"api_key": "[api_key]"}'),
    (f"X-Api-Key: {S3}", "X-Api-Key: [api_key]"),
    (f"OPENWEATHER_API_KEY={fake(32, HEX)}", "OPENWEATHER_API_KEY=[api_key]"),
    (f"?apikey={fake(20)}&q=1", "?apikey=[api_key]&q=1"),
    (f'aws_secret_access_key = "{fake(30)}/+{fake(8)}"',
     'aws_secret_access_key = "[secret]"'),
    (f"client_secret={S3}", "client_secret=[secret]"),
    (f'{{"refresh_token":"{S3}"}}', '{"refresh_token":"[token]"}'),
    (f"?access_token={S3}#x", "?access_token=[token]"),
    (f'{{"token": "{S3}"}}', '{"token": "[token]"}'),
    (f"csrf_token: {S3}", "csrf_token: [token]"),
    # headers
    (f"Authorization: Bearer {S3}", "Authorization: Bearer [bearer_token]"),
    (f'"authorization": "Bearer {S3}"', '"authorization": "Bearer [bearer_token]"'),
    (f"-H 'Authorization: Bearer {S3}'", "-H 'Authorization: Bearer [bearer_token]'"),
    (f"sent bearer {fake(30)} to x", "sent bearer [bearer_token] to x"),
    (f"Authorization: Basic {BASIC}", "Authorization: Basic [basic_auth]"),
    (f'{{"Authorization": "Basic {BASIC}="}}', '{"Authorization": "Basic '
     '[basic_auth]"}'),
    (f"Authorization: Token {S3}", "Authorization: Token [auth_header]"),
    (f"Authorization: Digest username=x, response={fake(32, HEX)}",
     "Authorization: Digest [auth_header]"),
    (f"Cookie: sid={fake(16)}; theme=dark", "Cookie: [cookie]"),
    (f'"set-cookie": "id={fake(20)}; HttpOnly"', '"set-cookie": "[cookie]"'),
    (f"GET /a?JSESSIONID={fake(32, HEX)}", "GET /a?JSESSIONID=[session_cookie]"),
    (f"PHPSESSID={fake(26)}", "PHPSESSID=[session_cookie]"),
    (f"connect.sid=s%3A{fake(32)}.{fake(40)}", "connect.sid=[session_cookie]"),
    # key blocks
    (f"a\n{PEM}{LINES}{END}\nb", "a\n[private_key]\nb"),
    (json.dumps({"k": f"{PEM}{LINES}{END}\n", "b": 1}),
     '{"k": "[private_key]\\n", "b": 1}'),
    (f"{PEM}{LINES}and then it stopped", "[private_key]\nand then it stopped"),
    # people and money
    ("mail bob.smith+x@mail.example.co.uk now", "mail [email] now"),
    ("<a1@example.com>: Recipient rejected", "<[email]>: Recipient rejected"),
    (r'{"t": "a\nbob@example.com\n"}', r'{"t": "a\n[email]\n"}'),
    ("4111111111111111", "[card_number]"),
    ("card 4111 1111 1111 1111 declined", "card [card_number] declined"),
    ("5500-0000-0000-0004", "[card_number]"),
    ("378282246310005", "[card_number]"),
    ("3782 822463 10005", "[card_number]"),
    ('{"card": 4111111111111111, "n": 2}', '{"card": 0, "n": 2}'),
    ('{"card": "4111111111111111"}', '{"card": "[card_number]"}'),
    ("IBAN DE89 3704 0044 0532 0130 00 ok", "IBAN [iban] ok"),
    ("DE89370400440532013000", "[iban]"),
    (f'{{"a": "password=", "b": ["x", 12345678, "{S1}"], "passwd": "{S1}"}}',
     f'{{"a": "password=", "b": ["x", 12345678, "{S1}"], "passwd": "[password]"}}'),
    (f'["password=", 12345678, "{S1}", "pwd=x12345\\\\", 1]',
     f'["password=", 12345678, "{S1}", "pwd=[password]\\\\", 1]'),
    # hooks and bots
    (f"hooks.slack.com/services/T0AB12CD3/B0AB12CD3/{fake(24)}",
     "hooks.slack.com/services/T0AB12CD3/[slack_webhook]"),
    (f"discord.com/api/webhooks/{fake(18, '123456789')}/{fake(68)}", None),
    (f"bot{fake(10, '123456789')}:AA{fake(33)}/send", None),
]  # fmt: skip

NO_SECRETS = [
    "request id 7f0c1d9e-4b7a-4c1e-a9d3-0b6f1f2a3c4d failed",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "Order ORD-004211 of cus_9f3c2a1b7e, re_0123456789ab, inv_0a1b2c3d4e",
    "call_9f3c2a1b0001 toolu_01A09q90qw90lq917835lq9",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4"
    "//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
    '{"input_tokens": 1200, "max_tokens": 4096, "total_tokens": 5296}',
    '{"next_token": null, "page_token": "CAUQAA", "token_count": 12}',
    '{"token": "Hello", "logprob": -0.1}',
    "password: must be at least 8 characters",
    '{"password": ["is too short"]}',
    '{"errors": {"password": "This field is required."}}',
    '{"password": {"type": "string", "minLength": 8}}',
    "password: string\napi_key: string",
    "def login(user: str, password: str, token: str = None) -> bool:",
    "client = Client(password=password, api_key=settings.API_KEY, token=token)",
    "password = getpass.getpass()",
    "api_key=os.environ['OPENAI_API_KEY']",
    "api_key = process.env.API_KEY_2",
    "password=${DB_PASSWORD} token=$TOKEN secret=<your-secret>",
    "postgres://user:${PASSWORD}@host/db",
    "https://user:***@host/db",
    "http://localhost:8080/path/@scope/pkg",
    "https://medium.com/@someone/post",
    "git@github.com:org/repo.git",
    "ssh://git@host.example.com/x.git",
    "import x\n@pytest.fixture\n@app.route('/a')",
    r'{"code": "import x\n\n@pytest.mark.parametrize\ndef f(): ..."}',
    "icon@2x.png lodash@4.17.21 pkg@1.2.3-beta.rc user@1000.service",
    "PWD=/home/someone/project OLDPWD=/tmp",
    "--- PASS: TestTruncate/at_u1 (0.00s)",
    '{"FAIL_TO_PASS": "[\\"tests/test_a.py::test_1\\"]", "PASS_TO_PASS": []}',
    "12 passed, 3 failed in 4.2s; pass=12 bypass: 3344556677",
    "passenger=12345678 compass: 99887766 monkey=abc12345 keyboard=qwerty123",
    "primary_key=order_id_2 foreign_key=customer_id_7 sort_key=created_at_9",
    "sk-learn is not scikit-learn; task-force-of-the-century-2024",
    "sk-toggleable__label-arrow-container-for-estimators-with-a-long-name",
    "risk-assessment-of-the-longest-kind-20240101",
    "HTTP 401 Unauthorized: missing Authorization header",
    "Authorization: required. Please provide a bearer token",
    "Cookies: enabled. cookies=response.cookies, timeout=3",
    "4111111111111112 and 1234567890123456 and 1700000000000",
    "0.4111111111111111 4111111111111111.5 x4111111111111111",
    "id 4111-1111-1111-1111-4111, row 12 4111 1111 1111 1111 7",
    "at 2026-09-07T10:11:12.123456Z took 1725703872123456 us",
    "DE89370400440532013001",
    "/srv/app/node_modules/@scope/pkg/dist/index.js:10:5",
    "an_extremely_long_snake_case_identifier_name_for_a_function_2",
    "AKIA is a prefix; ghp_ too; AIza; xoxb-; eyJ; -----BEGIN CERTIFICATE-----",
    "[email] [password] password=[password] \"api_key\": \"[api_key]\"",
    "",
]  # fmt: skip
