"""The site.

python -m tools.site            builds it in build/site
python -m tools.site FOLDER     builds it there, if the folder is new, empty, or of an earlier build
python -m tools.site serve      shows what is in build/site on this machine
"""

import gc
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools.site.build import ROOT, build

TARGET = ROOT / "build" / "site"


def serve(port: int = 8000) -> None:
    with ThreadingHTTPServer(("127.0.0.1", port), partial(SimpleHTTPRequestHandler, directory=TARGET)) as server:
        print(f"The site is at http://127.0.0.1:{server.server_port}; Ctrl+C ends it.", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        gc.set_threshold(20_000)  # from 700 new objects on, looking for unused circles took a tenth of the time
        try:
            sys.exit(build(Path(*sys.argv[1:]) if sys.argv[1:] else TARGET))
        except FileExistsError as error:
            sys.exit(str(error))
