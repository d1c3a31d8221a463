"""Imports what every lesson imports, then forks a kernel for each launch.py that asks, until the tests have ended."""

import gc
import json
import os
import select
import shutil
import signal
import socket
import struct
import sys
import threading
import traceback
from contextlib import suppress

os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # ipykernel's own choice

import anywidget
import ipykernel.kernelapp
import ipywidgets
import matplotlib.backends.backend_agg
import matplotlib.figure
import pandas
import safetensors.torch
import tokenizers
import torch
import torch._dynamo  # by the first optimizer
import torch.nn.functional

EVERY = 2.0  # seconds: looks whether the tests still run
IMPORTED = (anywidget, ipykernel, ipywidgets, matplotlib, pandas, safetensors, tokenizers, torch)


def receive(line):
    """What launch.py sent: the order, and its standard streams."""
    head, ancillary, *_ = line.recvmsg(8, socket.CMSG_LEN(3 * 4))
    streams = struct.unpack("3i", ancillary[0][2])
    left, parts = int.from_bytes(head, "little"), []
    while left:
        parts.append(line.recv(left))
        left -= len(parts[-1])
    return json.loads(b"".join(parts)), streams


def become_kernel(line, order, streams):
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.argv = ["ipykernel_launcher", "-f", order["file"]]
    line.sendall(os.getpid().to_bytes(8, "little"))
    threading.Thread(target=end_with, args=(line,), daemon=True).start()
    gc.unfreeze()
    try:
        ipykernel.kernelapp.launch_new_instance()
    except Exception:  # a port may be taken by now; Jupyter starts another kernel, as soon as this one has ended
        traceback.print_exc()
    finally:
        os._exit(0)  # Python's own end would wait for ever for the sockets that are open


def end_with(line):
    line.recv(1)
    os._exit(0)


def main(path, owner):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with suppress(FileNotFoundError):
        os.unlink(path)  # of one that was killed
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)
    gc.collect()
    gc.freeze()
    while os.path.exists(f"/proc/{owner}"):
        if not select.select([server], [], [], EVERY)[0]:
            continue
        line, _ = server.accept()
        try:
            order, streams = receive(line)
        except (IndexError, OSError):  # somebody who only looked whether there is an answer
            line.close()
            continue
        if os.fork() == 0:
            server.close()
            become_kernel(line, order, streams)
        for stream in streams:
            os.close(stream)
        line.close()
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)


main(*sys.argv[1:])
