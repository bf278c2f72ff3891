"""Results that are objects: which of them report a failure."""

import pytest

from apps.runs.error_objects import holds_inner_error, is_error_object


@pytest.mark.parametrize(
    "text",
    [
        '{"ok": false}',
        '{"ok":false,"error":{"message":"no"}}',
        '{"success": false, "message": "declined"}',
        '{"isError": true, "content": []}',
        '{"is_error": true}',
        '{"error": "no such order"}',
        '{"error": {"code": "X"}}',
        '{"error": true}',
        '{"error_message": "declined"}',
        '{"errorMessage": "declined"}',
        '{"status": "error", "data": null}',
        '{"status": "ERROR"}',
        '{"status": "failed", "message": "host is down"}',
        '{"status": 404, "title": "Not Found"}',
        '{"status": "401", "msg": "Authentication required"}',
        '{"data": null, "errors": [{"message": "no field x"}]}',
        '\n  {"error": "declined"}',
        "{'error': 'no such order'}",
        "{'success': False, 'message': 'declined'}",
        "{'status': 'error'}",
    ],
)
def test_is_error_object_sees_a_failure(text):
    assert is_error_object(text)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"ok": true, "rows": [{"status": "error"}]}',
        '{"success": true, "error": null}',
        '{"ok": true, "error": "the last one, since mended"}',
        '{"error": null, "result": 5}',
        '{"error": "", "response": "x"}',
        '{"error": "None"}',
        '{"error": "no"}',
        '{"error": {}}',
        '{"error": false}',
        '{"errors": [], "warnings": []}',
        '{"errors": ["E1: line too long"], "files": 3}',  # what a linter finds
        '{"status": "open", "name": "error"}',
        '{"status": 200}',
        '{"id": "job_1", "status": "failed"}',  # what a look-up found
        '{"status": {"code": 500}}',
        '{"message": "error"}',
        '{"rows": [{"error": "x"}]}',
        "{'error': None, 'result': 5}",
        "{'error': ''}",
        '{"error": "cut',
        '[{"error": "x"}]',
        '"error"',
        "null",
        "",
    ],
)
def test_is_error_object_sees_no_failure(text):
    assert not is_error_object(text)


KNOWN_WRONG = [  # text, wanted, actual
    ('{"job_id": 5, "status": "done", "error": "exit code 1"}', False, True),
    ('{"type": "problem", "httpStatus": 500}', True, False),
    ("{'id': 5, 'error': 'no such order'}", True, False),
    ('{"error": "bad \\ud800"}', True, False),
    ('{"url": "https://example.com/x", "status": 404}', False, True),
]


@pytest.mark.parametrize(("text", "wanted", "actual"), KNOWN_WRONG)
def test_is_error_object_known_wrong(text, wanted, actual):
    assert wanted is not actual
    assert is_error_object(text) is actual


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"error": "", "response": "{\\"status\\": \\"401\\"}"}', True),
        ('{"error": "", "response": "{\'success\': False}"}', True),
        ('{"result": {"error": "no such order"}}', True),
        ('{"error": "", "response": "{\\"rows\\": []}"}', False),
        ('{"response": "Error: as text, which is not looked at"}', False),
        ('{"response": 5}', False),
        ('{"rows": []}', False),
        ('{"result": "cut', False),
        ("", False),
    ],
)
def test_holds_inner_error(text, expected):
    assert holds_inner_error(text) is expected


def test_deep_nesting_and_odd_characters_do_no_harm():
    assert not is_error_object('{"a":' * 20_000)
    assert not is_error_object('{"a": "\ud800"}')
    assert not holds_inner_error('{"result":' * 20_000)
