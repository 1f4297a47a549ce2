"""Nothing that looks like a secret leaves the machine, and code stays code."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_runner.assistant.masking import Masker, is_random
from tests.conftest import ROOT

ALPHANUMERIC = string.ascii_letters + string.digits


def masked(text: str) -> str:
    return Masker(home="/home/ada", user="ada").mask(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('API_KEY = "hunter2"', "hunter2"),
        ("password = 'correct horse'", "correct horse"),
        ('os.environ["HF_TOKEN"] = "abc"', '"abc"'),
        ('login(token="s3cr3t")', "s3cr3t"),
        ('config = {"db_password": "pw", "x": 1}', '"pw"'),
        ('SECRET: str = """several\nlines"""', "several\nlines"),
        ('client = Client(auth=b"raw")', "raw"),
        ('set_option("api_key", "k3y")', "k3y"),
        ('os.getenv("HF_TOKEN", default="fallback")', "fallback"),
        ("headers = {'X-Api-Key': 'plain', 'Accept': '*/*'}", "plain"),
        ("{'Authorization': f'Token {prefix}abc123'}", "abc123"),
        ("token = 'first' + 'second'", "second"),
        ("token = (\n    'first'\n    'second'\n)", "second"),
        ("requests.get(url, auth=('ada', 'hunter2'))", "hunter2"),
        ("passwords = ['hunter2', 'hunter3']", "hunter3"),
        ("if (token := 'hunter2'): pass", "hunter2"),
        ("clientSecret = 'hunter2'", "hunter2"),
        ("DB_PASS = 'hunter2'", "hunter2"),
        ("SIGNING_KEY = 'abcd-1234'", "abcd-1234"),
        ("wandb.login(key='abcdefgh')", "abcdefgh"),
        ("# the password is correcthorse, says Bob", "correcthorse"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "bPxRfiCY"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----", "lQOYBF"),
        ("https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXX", "B00000000"),
        ("id = '550e8400-e29b-41d4-a716-446655440000'", "550e8400"),
        ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDl grace@laptop", "AAAAB3"),
        ("host = 'gpu-17.cluster.acme.com'", "acme"),
        ("open('/home/grace hopper/model.pt')", "hopper"),
        ("open('C:/Users/grace/model.pt')", "grace"),
        ("\\\\server\\Users\\grace\\model.pt", "grace"),
        ("/data/users/grace/model.pt", "grace"),
        ("export AWS_SECRET_ACCESS_KEY=plainvalue", "plainvalue"),
        ("# password: hunter2", "hunter2"),
        ("run --hf-token opensesame --steps 3", "opensesame"),
        ("GET /x?token=abcdef&y=1", "abcdef"),
        ("Authorization: Bearer abcdef.ghijkl", "abcdef.ghijkl"),
        ("see sk-proj-0123456789abcdefghij", "sk-proj-0123456789abcdefghij"),
        ("hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ12345678", "aBcDeFgHiJkLmNoPqRsTuVwXyZ12345678"),
        ("key ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789"),
        ("aws AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123", "eyJhbGciOiJIUzI1NiJ9"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE and it is cut", "MIIE"),
        ("postgres://ada:pw@db.example.com/x", "pw@db"),
        ("mail ada.lovelace@analytical.engine.org now", "lovelace"),
        ("http://10.1.2.3:8000/v1", "10.1.2.3"),
        ("https://models.acme-robotics.com/v1", "acme-robotics"),
        ('host = "trainer.acme.internal"', "trainer.acme"),
        ('host = "gpu-box.local"', "gpu-box"),
        ("/home/ada/model.py", "ada"),
        ("/Users/Grace Hopper", "Grace"),
        ("C:\\Users\\grace\\model.py", "grace"),
        ("/mnt/scratch/ada/model.py", "/ada/"),
        ("digest 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "9f86d081884c7d65"),
        ("/data/9f86d081884c7d659a2feaa0c55ad015/model.pt", "9f86d081884c7d65"),
        ('"q7RtX/u3Vb9+Zk2LpW8cY/4nHsD6fGjM1eTaQ5oK"', "Zk2LpW8cY"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in masked(text)


@pytest.mark.parametrize(
    "code",
    [
        "tokenizer = AutoTokenizer.from_pretrained(name)",
        "token_type_ids: torch.LongTensor | None = None",
        'pad_token = "[PAD]"',
        "pad_token_id=self.config.pad_token_id",
        "def f(password: str, token=None): pass",
        "author = compute(x)",
        'Token = NewType("Token", int)',
        'tokens = text.split(" ")',
        'd["key"] = "value"',
        "sort(key=lambda each: each.name)",
        'bypass, compass = "relu", "north"',
        "q, key, value = self.qkv(x).chunk(3); self.key = nn.Linear(8, 8)",
        'class Kept:\n    """Two passes: one pass, then the secret\'s end."""\n    kind = "plain"\n',
        "self.dense_h_to_4h = nn.Linear(hidden_size, 4 * hidden_size)",
        "class Wav2Vec2ForSequenceClassification(nn.Module):",
        "torch_dynamo_resume_in_forward_at_12",
        "x = x.view(2, 3).transpose(0, 1).contiguous()",
        "    if x.sum() > 0:",
        "threading.local(), self.home",
        "https://pytorch.org/docs/main/torch.compiler.html, http://localhost:8000, 127.0.0.1",
        "torch 2.13.0, see GB0170 at line 12",
        "~/model.py:12",
    ],
)
def test_code_and_messages_without_secrets_stay_as_they_are(code: str) -> None:
    assert masked(code) == code


@pytest.mark.slow
def test_the_corpus_of_programs_has_no_secrets() -> None:
    for path in sorted((ROOT / "registry" / "repros").glob("*.py")):
        text = path.read_text("utf-8")
        assert masked(text) == text, path.name


def test_a_secret_has_the_same_mask_everywhere_and_another_one_another() -> None:
    masker = Masker(home="/home/ada", user="ada")
    first = masker.mask('API_KEY = "swordfish"\nconnect("swordfish")\nSECRET = "other one"')
    assert first == 'API_KEY = "<masked-1>"\nconnect("<masked-1>")\nSECRET = "<masked-2>"'
    assert masker.mask("error near swordfish") == "error near <masked-1>"


NAMES = st.sampled_from(["API_KEY", "password", "my_secret", "hf_token", "AUTH", "db.credentials", "aws_access_key_id"])
FORMS = st.sampled_from(
    [
        '{name} = "{value}"',
        "{name}='{value}'",
        'f({name}="{value}")',
        '{{"{name}": "{value}"}}',
        'os.environ["{name}"] = "{value}"',
        'x = 1\n    {name} : str = "{value}"  # note',
    ]
)
VALUES = st.text(st.characters(blacklist_characters="\"'\\\n\r<>", min_codepoint=33, max_codepoint=0x2FF), min_size=5)


@pytest.mark.slow
@given(name=NAMES, form=FORMS, value=VALUES)
def test_no_string_under_a_telling_name_survives(name: str, form: str, value: str) -> None:
    text = masked(form.format(name=name, value=value))
    assert f'"{value}"' not in text
    assert f"'{value}'" not in text


@pytest.mark.slow
@given(
    value=st.text(ALPHANUMERIC, min_size=32, max_size=64).filter(
        lambda value: sum(map(str.isdigit, value)) >= 4 and len(set(value)) > 14
    ),
    form=st.sampled_from(['run("{}")', "# {} is it", "message: {}", "{}\n", "/data/{}/x"]),
)
def test_no_long_random_run_survives(value: str, form: str) -> None:
    if is_random(value):
        assert value not in masked(form.format(value))


@given(value=st.binary(min_size=24, max_size=48))
def test_digests_and_base64_are_taken_for_random(value: bytes) -> None:
    import hashlib

    digest = hashlib.sha256(value).hexdigest()
    assert digest not in masked(f"commit {digest} of it")


@given(name=st.text(string.ascii_lowercase, min_size=3, max_size=12), rest=st.sampled_from(["", "/a.py", "/b/c.py:3"]))
def test_no_name_of_a_home_folder_survives(name: str, rest: str) -> None:
    for start in ("/home/", "/Users/", "C:\\Users\\"):
        assert masked(f'File "{start}{name}{rest}"') == f'File "~{rest}"'


@given(text=st.text(max_size=300))
def test_any_text_can_be_masked_and_what_is_masked_stays_so(text: str) -> None:
    once = masked(text)
    assert masked(once) == once


def test_the_home_folder_of_this_machine_is_masked_by_default() -> None:
    home = Path.home()
    assert Masker().mask(f"{home}/project/model.py") == "~/project/model.py"
