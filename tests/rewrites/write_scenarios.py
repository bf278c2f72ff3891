"""What the write runtime promises, told as scenarios on an exported module.

Each takes the module `m` and a function that opens its store: once in memory, once as
SQLite. They run here and, as a script, in every Python that the module supports, so
they use nothing newer than Python 3.9 and no pytest.
"""

import contextlib


class Clock:
    """Time that moves only when told."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def __call__(self):
        return self.now


class Server:
    """A tool that writes: what it wrote is what `verify` finds."""

    def __init__(self, *answers):
        self.answers = list(answers)  # what happens at each call; then "ok"
        self.calls = []
        self.written = {}
        self.found = None  # what verify says, where it is not what was written

    def send(self, args, ref):
        self.calls.append((ref, args))
        answer = self.answers.pop(0) if self.answers else "ok"
        if answer == "ok" or answer == "lost":
            self.written[ref] = {"id": len(self.written) + 1}
        if isinstance(answer, BaseException):
            raise answer
        if answer == "lost":  # written, but the answer never came
            raise TimeoutError("read timed out")
        return self.written[ref]

    def verify(self, ref):
        if self.found is not None:
            return (self.found, None, "")
        if ref in self.written:
            return ("committed", self.written[ref], "row 1")
        return ("absent", None, "no row")

    @property
    def refs(self):
        return [ref for ref, _ in self.calls]


def envelope(m, action, **changes):
    directives = {
        "correct_input": "after_input_fix",
        "wait_and_retry": "after_delay",
        "verify_operation": "after_verification",
        "ask_user": "after_input_fix",
        "request_approval": "after_approval",
    }
    fields = {
        "code": "x.failed",
        "category": "dependency",
        "commit_state": "not_committed",
        "directive": directives.get(action, "never"),
        "next_action": action,
        "agent_message": "It failed.",
    }
    fields.update(changes)
    return m.Envelope(**fields)


def error(m, action, **changes):
    return m.ToolError(envelope(m, action, **changes))


def make(m, open_store, **options):
    clock = Clock()
    store = open_store()
    return m.WriteRuntime(store, clock=clock, **options), store, clock


def the_reference_is_stored_before_the_first_write(m, open_store):
    runtime, store, _ = make(m, open_store)
    operation = runtime.begin("pay", {"amount": 5})
    assert store.get(operation.ref).state == "ready"
    seen = []

    def send(args, ref):
        seen.append(store.get(ref).state)
        return "done"

    runtime.run(operation.ref, send, Server().verify)
    assert seen == ["dispatched"]
    answer = runtime.answer(operation.ref)
    assert (answer.result, answer.operation_ref) == ("done", operation.ref)


def invalid_input_is_sent_again_only_under_a_new_reference(m, open_store):
    runtime, store, _ = make(m, open_store)
    server = Server(error(m, "correct_input", category="validation"))
    first = runtime.begin("pay", {"amount": 500})
    for _ in range(3):
        assert runtime.run(first.ref, server.send, server.verify).state == "needs_input"
    assert len(server.calls) == 1
    second = runtime.correct(first.ref, {"amount": 5})
    assert runtime.run(second.ref, server.send, server.verify).state == "committed"
    assert store.get(first.ref).replaced_by == second.ref
    assert server.refs == [first.ref, second.ref]
    assert first.ref != second.ref


def a_wait_belongs_to_the_scheduler(m, open_store):
    runtime, _, clock = make(m, open_store)
    until = m.iso(clock.now + 30)
    server = Server(error(m, "wait_and_retry", category="limit", not_before=until))
    ref = runtime.begin("pay", {}).ref
    for _ in range(5):
        assert runtime.run(ref, server.send, server.verify).state == "waiting"
    assert len(server.calls) == 1
    clock.now += 31
    assert runtime.run(ref, server.send, server.verify).state == "committed"
    assert server.refs == [ref, ref]


def a_lost_answer_is_looked_up_and_not_sent_again(m, open_store):
    runtime, _, _ = make(m, open_store)
    server = Server("lost")
    ref = runtime.begin("pay", {}).ref
    operation = runtime.run(ref, server.send, server.verify)
    assert (operation.state, operation.evidence_ref) == ("committed", "row 1")
    assert operation.checked_at == "2023-11-14T22:13:20Z"
    assert len(server.calls) == 1


def what_is_proven_void_is_sent_again_under_the_same_reference(m, open_store):
    runtime, _, _ = make(m, open_store)
    server = Server(ConnectionError("reset"))
    ref = runtime.begin("pay", {}).ref
    assert runtime.run(ref, server.send, server.verify).state == "committed"
    assert server.refs == [ref, ref]


def an_unknown_effect_is_looked_up_whatever_the_envelope_asks(m, open_store):
    for action in m.NEXT_ACTIONS:
        runtime, _, _ = make(m, open_store)
        server = Server(error(m, action, commit_state="unknown"))
        server.found = "unknown"
        ref = runtime.begin("pay", {}, "op-" + action).ref
        operation = runtime.run(ref, server.send, server.verify)
        assert (operation.state, operation.checks) == ("verifying", 1)
        assert len(server.calls) == 1


def a_known_reference_gives_the_first_operation(m, open_store):
    runtime, _, _ = make(m, open_store)
    server = Server()
    runtime.begin("pay", {"amount": 5}, "key-1")
    runtime.run("key-1", server.send, server.verify)
    again = runtime.begin("pay", {"amount": 5}, "key-1")
    assert again.state == "committed"
    runtime.run("key-1", server.send, server.verify)
    assert len(server.calls) == 1
    try:
        runtime.begin("pay", {"amount": 6}, "key-1")
    except m.ContractError:
        return
    raise AssertionError("another call under the same reference went through")


def nothing_is_sent_without_approval(m, open_store):
    runtime, _, clock = make(m, open_store)
    server = Server(error(m, "request_approval", category="authorization"))
    ref = runtime.begin("pay", {}).ref
    for _ in range(3):
        state = runtime.run(ref, server.send, server.verify).state
        assert state == "needs_approval"
        clock.now += 3600
    assert len(server.calls) == 1
    runtime.approve(ref)
    assert runtime.run(ref, server.send, server.verify).state == "committed"
    assert server.refs == [ref, ref]


def a_lost_approval_ends_in_escalation(m, open_store):
    runtime, _, clock = make(m, open_store, approval_seconds=60)
    server = Server(error(m, "request_approval"))
    ref = runtime.begin("pay", {}).ref
    runtime.run(ref, server.send, server.verify)
    clock.now += 61
    states = [o.state for o in runtime.resume(server.send, server.verify)]
    assert states == ["escalated"]
    assert len(server.calls) == 1


def an_outage_that_lasts_ends_after_the_bounded_attempts(m, open_store):
    runtime, _, clock = make(m, open_store, max_attempts=3)
    server = Server(*[error(m, "wait_and_retry") for _ in range(9)])
    ref = runtime.begin("pay", {}).ref
    for _ in range(9):
        operation = runtime.run(ref, server.send, server.verify)
        clock.now += 3600
    assert operation.state == "escalated"
    assert server.refs == [ref] * 3


def a_look_up_that_tells_nothing_ends_in_escalation(m, open_store):
    runtime, _, clock = make(m, open_store, max_checks=4)
    server = Server("lost")
    server.found = "unknown"
    ref = runtime.begin("pay", {}).ref
    for _ in range(9):
        operation = runtime.run(ref, server.send, server.verify)
        clock.now += 3600
    assert (operation.state, operation.checks) == ("escalated", 4)
    assert len(server.calls) == 1


def attempts_left_in_the_envelope_count_too(m, open_store):
    runtime, _, _ = make(m, open_store)
    server = Server(error(m, "wait_and_retry", max_attempts_remaining=0))
    ref = runtime.begin("pay", {}).ref
    assert runtime.run(ref, server.send, server.verify).state == "escalated"


def every_other_action_is_an_end(m, open_store):
    ends = {"switch_tool": "switched", "escalate": "escalated", "stop": "stopped"}
    for action, state in ends.items():
        runtime, _, _ = make(m, open_store)
        server = Server(error(m, action, alternative_tool="other"))
        ref = runtime.begin("pay", {}, "op-" + action).ref
        for _ in range(3):
            assert runtime.run(ref, server.send, server.verify).state == state
        assert len(server.calls) == 1


def after_a_crash_the_same_reference_is_looked_up(m, open_store):
    for fate, sends in (("written", 1), ("void", 2)):
        runtime, store, clock = make(m, open_store, lease_seconds=60)
        server = Server(SystemExit("killed"))
        ref = runtime.begin("pay", {}, "op-" + fate).ref
        with contextlib.suppress(SystemExit):
            runtime.run(ref, server.send, server.verify)
        if fate == "written":
            server.written[ref] = {"id": 1}
        restarted = m.WriteRuntime(store, clock=clock)
        # The first program may still be alive: its lease runs.
        assert restarted.resume(server.send, server.verify)[0].state == "dispatched"
        assert len(server.calls) == 1
        clock.now += 61
        done = restarted.resume(server.send, server.verify)
        assert [o.state for o in done] == ["committed"]
        assert server.refs == [ref] * sends


def two_programs_do_not_send_at_once(m, open_store):
    runtime, store, clock = make(m, open_store)
    other = m.WriteRuntime(store, clock=clock)
    sent = []

    def send(args, ref):
        sent.append(ref)
        if len(sent) == 1:
            other.run(ref, send, Server().verify)
            assert other.resume(send, Server().verify)[0].state == "dispatched"
        return "done"

    ref = runtime.begin("pay", {}).ref
    assert runtime.run(ref, send, Server().verify).state == "committed"
    assert sent == [ref]


def a_person_may_refuse(m, open_store):
    runtime, _, _ = make(m, open_store)
    server = Server(error(m, "ask_user"))
    ref = runtime.begin("pay", {}).ref
    runtime.run(ref, server.send, server.verify)
    assert runtime.refuse(ref).state == "stopped"
    for wrong in (runtime.approve, runtime.refuse):
        try:
            wrong(ref)
        except m.ContractError:
            continue
        raise AssertionError("an operation that is over was changed")


SCENARIOS = [
    value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__code__", None)
    and value.__code__.co_varnames[:2] == ("m", "open_store")
    and name != "make"
]
