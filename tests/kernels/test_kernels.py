"""A forked kernel is a kernel: its own environment and folder, it can be interrupted and restarted, and it ends."""

import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

pytestmark = [
    pytest.mark.notebook,
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only"),
]
PATIENCE = 120  # seconds


class Kernel:
    def __init__(self, folder):
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(folder), env={**os.environ, "OF_THIS_KERNEL": "42"})
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)

    def says(self, code):
        """What the code prints, and the name of the error that it raises."""
        said = []

        def listen(message):
            content = message["content"]
            said.append(content.get("text") or content.get("ename") or "")

        self.client.execute_interactive(code, timeout=PATIENCE, output_hook=listen)
        return "".join(said).strip()

    def number(self):
        return int(self.says("import os; print(os.getpid())"))


@pytest.fixture
def kernel(tmp_path):
    kernel = Kernel(tmp_path)
    yield kernel
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel(now=True)


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def runs(number):
    return Path(f"/proc/{number}").exists()


def parent(number):
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1]


def test_it_is_forked_and_has_its_own_environment_and_folder(kernel, tmp_path):
    assert "warm.py" in Path(f"/proc/{parent(kernel.number())}/cmdline").read_text()
    assert kernel.says("import sys; print(sys.modules.get('lessons'), 'torch' in sys.modules)") == "None True"
    assert kernel.says("print(os.environ['OF_THIS_KERNEL'], os.getcwd())") == f"42 {tmp_path}"


def test_nothing_of_one_kernel_is_in_the_next(kernel, tmp_path):
    kernel.says("import torch; torch.set_default_dtype(torch.float64); import os; os.environ['LEFT'] = '1'")
    other = Kernel(tmp_path)
    try:
        assert (
            other.says("import torch, os; print(torch.get_default_dtype(), 'LEFT' in os.environ)")
            == "torch.float32 False"
        )
    finally:
        other.client.stop_channels()
        other.manager.shutdown_kernel(now=True)


def test_it_is_interrupted(kernel):
    kernel.client.execute("import time; print('begun', flush=True)\ntime.sleep(600)")
    while kernel.client.get_iopub_msg(timeout=PATIENCE)["content"].get("text") != "begun\n":
        pass
    kernel.manager.interrupt_kernel()
    while (message := kernel.client.get_iopub_msg(timeout=PATIENCE))["msg_type"] != "error":
        pass
    assert message["content"]["ename"] == "KeyboardInterrupt"


def test_a_program_of_a_kernel_ends_with_its_status(kernel):
    assert (
        kernel.says("import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'exit(3)']).returncode)")
        == "3"
    )


def test_it_ends_when_it_is_told_to_and_when_it_is_killed(tmp_path):
    for now in (False, True):
        kernel = Kernel(tmp_path)
        number = kernel.number()
        kernel.client.stop_channels()
        kernel.manager.shutdown_kernel(now=now)
        wait_until(lambda number=number: not runs(number))


def test_a_kernel_that_dies_is_noticed(tmp_path):
    kernel = Kernel(tmp_path)
    os.kill(kernel.number(), signal.SIGKILL)
    wait_until(lambda: not kernel.manager.is_alive())
    kernel.client.stop_channels()
    kernel.manager.cleanup_resources()


def test_a_kernel_whose_port_is_taken_is_noticed():
    with socket.create_server(("127.0.0.1", 0)) as other:
        manager = KernelManager(kernel_name="python3", iopub_port=other.getsockname()[1], cache_ports=False)
        manager.start_kernel()
        wait_until(lambda: not manager.is_alive())
        manager.cleanup_resources()
