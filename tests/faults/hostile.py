#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Answers as no server should give them, to whole jobs: hostile.py WEIR WEIR_SIM

Wrong lengths, bad chunks, a byte a second, silence, pages for people, answers to nobody. Each is given to requests that
were executed, which must not be done twice, and to requests that were not, which must not count as done: a table that
lacks a row is what tells an answer that was believed. All of it is over in a bounded time.
"""
import functools
import sys

from campaign import (CREATE, FULL, THE_FIVE, Job, judge, run_tests, seed_of, subfolder, world)
from proxies import ASTRAY, Mangler, before, reset

QUICK = {"Http:RequestTimeout": "2s", "Http:FirstByteTimeout": "1s", "AdaptiveRate:Policy": "Fixed",
         "AdaptiveRate:FixedParallelism": 2}
PAGE = b"<html><body>Please log in to this network</body></html>"


def with_header(head, name, value):
    """Instead of what there is, if there is."""
    lines = [line for line in head[:-4].split(b"\r\n") if not line.lower().startswith(name.lower() + b":")]
    return b"\r\n".join(lines + ([name + b": " + value] if value is not None else [])) + b"\r\n\r\n"


def with_length(head, value):
    return with_header(head, b"Content-Length", value)


def with_body(head, body):
    """An answer that may have one."""
    if head.split()[1] != b"204":
        return head, body
    return head.replace(b"204 No Content", b"200 OK", 1), b'{"value":[]}'


def chunked(head):
    return with_header(with_length(head, None), b"Transfer-Encoding", b"chunked")


# --- answers, each a function of (mangler, client, head, body) -------------------------------------

def length_too_long(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(with_length(head, b"%d" % (len(body) + 7)) + body)


def length_too_long_and_then_silence(mangler, client, head, body):
    length_too_long(mangler, client, head, body)
    mangler.stop.wait(30)


def length_too_short(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(with_length(head, b"%d" % (len(body) - 5)) + body)


def length_below_zero(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(with_length(head, b"-1") + body)


def length_that_is_no_number(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(with_length(head, b"many") + body)


def length_that_does_not_fit(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(with_length(head, b"99999999999999999999999") + body)


def chunk_of_no_size(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(chunked(head) + b"zz\r\n" + body + b"\r\n0\r\n\r\n")


def chunk_larger_than_all(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(chunked(head) + b"FFFFFFFFFFFFFFFFF\r\n" + body + b"\r\n0\r\n\r\n")


def chunks_without_an_end(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(chunked(head) + b"%x\r\n" % len(body) + body + b"\r\n")


def chunk_shorter_than_it_says(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(chunked(head) + b"%x\r\n" % (len(body) + 9) + body + b"\r\n0\r\n\r\n")


def a_byte_a_second(mangler, client, head, body):
    for byte in head + body:
        client.sendall(bytes([byte]))
        if mangler.stop.wait(1):
            return


def silence(mangler, *_):
    mangler.stop.wait(30)


def an_end_without_a_byte(*_):
    pass


def a_reset_without_a_byte(_, client, *__):
    reset(client)


def no_http(_, client, *__):
    client.sendall(b"220 smtp.example ESMTP\r\n\r\n")


def a_head_without_end(_, client, head, __):
    client.sendall(head[:-2] + b"X-Filler: " + b"x" * 1024 * 1024)


def a_page_with_200(_, client, *__):
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(PAGE) + PAGE)


def half_of_the_body(_, client, head, body):
    head, body = with_body(head, body)
    half = body[:len(body) // 2]
    client.sendall(with_length(head, b"%d" % len(half)) + half)


def bytes_that_are_no_text(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(with_length(head, b"%d" % len(body)) + b"\0\xff" * (len(body) // 2) + b"\0" * (len(body) % 2))


def a_redirect(mangler, client, *_):
    """To itself: whoever follows comes back and is counted."""
    client.sendall(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: " + mangler.url.encode() + ASTRAY
                   + b"\r\nContent-Length: 0\r\n\r\n")


def packed_that_is_not(_, client, head, body):
    head, body = with_body(head, body)
    client.sendall(with_header(with_length(head, b"%d" % len(body)), b"Content-Encoding", b"gzip") + body)


def a_status_of_four_digits(_, client, head, body):
    client.sendall(b"HTTP/1.1 2000 Fine\r\n" + head.split(b"\r\n", 1)[1] + body)


def an_answer_and_one_more(_, client, head, body):
    """The second is nobody's."""
    client.sendall((head + body) * 2)


# They say clearly, all the same, that the request was executed; of one that was not that would be a lie.
SAYS_SO = {an_answer_and_one_more, packed_that_is_not}
SAYS_SO_OF_SOME = {length_too_short, half_of_the_body}  # of the parts of a $batch that are whole
HOSTILE = [length_too_long, length_too_long_and_then_silence, length_too_short, length_below_zero,
           length_that_is_no_number, length_that_does_not_fit, chunk_of_no_size, chunk_larger_than_all,
           chunks_without_an_end, chunk_shorter_than_it_says, a_byte_a_second, silence, an_end_without_a_byte,
           a_reset_without_a_byte, no_http, a_head_without_end, a_page_with_200, half_of_the_body,
           bytes_that_are_no_text, a_redirect, packed_that_is_not, a_status_of_four_digits, an_answer_and_one_more]


def meet(kind, spoil, executed, folder):
    name = f"{kind.name} {spoil.__name__} {executed}"
    with world(seed=seed_of(name), service_ms=20) as sim, before(sim, Mangler(sim)) as mangler:
        job = Job(sim, kind, folder, 300, batch=10, seed=seed_of(name), quick=QUICK)
        mangler.begin(kind.message, spoil, 3, 4, executed)
        job.run()
        judge(job)
        assert mangler.spoilt > 0, "nothing was spoilt"
        assert mangler.followed == 0, "a redirect was followed"


def would_lie(kind, spoil):
    return spoil in SAYS_SO or (kind.message == "$batch" and spoil in SAYS_SO_OF_SOME)


def both_ways(kind, spoil, folder):
    for executed in (True, False):
        if executed or not would_lie(kind, spoil):
            meet(kind, spoil, executed, subfolder(folder, str(executed)))


def look_back(spoil, executed, folder):
    """Creates whose answers were lost are looked for by a $batch, and that is answered so: by rows of another question,
    or by none. What it does not say it does not show."""
    name = f"look back {spoil.__name__} {executed}"
    with world(seed=seed_of(name), service_ms=20) as sim, before(sim, Mangler(sim)) as mangler:
        job = Job(sim, CREATE, folder, 300, batch=10, seed=seed_of(name), quick=QUICK)
        sim.faults({"kind": "commit_then_silence", "operation": "CreateMultiple", "every": 4})
        mangler.begin("$batch", spoil, 2, 4, executed)
        job.run()
        judge(job)
        assert mangler.spoilt > 0, "nothing was spoilt"
        assert mangler.followed == 0, "a redirect was followed"


def look_back_both_ways(spoil, folder):
    for executed in (True, False):
        look_back(spoil, executed, subfolder(folder, str(executed)))


for number, each in enumerate(HOSTILE):
    if FULL or number % 8 == 0:
        globals()[f"test_looking_back_with_{each.__name__}"] = functools.partial(look_back_both_ways, each)
    for operation in THE_FIVE if FULL else [THE_FIVE[number % len(THE_FIVE)]] if number % 2 else []:
        globals()[f"test_{operation.name}_with_{each.__name__}"] = functools.partial(
            both_ways, operation, each)


if __name__ == "__main__":
    run_tests(sys.modules["__main__"], at_once=8)
