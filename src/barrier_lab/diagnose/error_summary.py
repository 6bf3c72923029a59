"""Summarize a traceback in one line."""

import re

_SUMMARY = re.compile(r"^[A-Za-z_][\w.]*(: .*)?$")
_BELOW = re.compile(
    r"^\[(?:enforce fail at )?[^\]]*\.(?:cc|cpp|h|hpp):\d+\] "
)  # "[/pytorch/third_party/gloo/…/pair.cc:534] "
_SOCKET = re.compile(r"useIpv6: \w+, code: -?\d+, ")  # before "name: EADDRINUSE, message: address already in use"
_PEER = re.compile(r" ?\[[0-9a-fA-F.:]+\]:\d+")  # "[127.0.0.1]:40312": differs between ranks


def summary(error: str) -> str:
    """The exception line of a traceback, without C++ locations and peer addresses, in at most 180 characters."""
    lines = error.strip().splitlines() or [""]
    after_frames = [i for i, line in enumerate(lines) if i and lines[i - 1].startswith(" ") and _SUMMARY.match(line)]
    line = lines[after_frames[-1]] if after_frames else lines[0]
    name, colon, message = line.partition(": ") if ": " in line else ("", "", line)
    for noise in (_BELOW, _SOCKET, _PEER):
        message = noise.sub("", message)
    for more in (". This ", ". Please ", ". Is "):
        message = message.split(more)[0]
    message = message.rstrip(". ")
    text = f"{name}{colon}{message}"
    return text if len(text) <= 180 else f"{text[:179]}…"
