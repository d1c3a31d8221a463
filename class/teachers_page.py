"""The overview as a page of the hub, for teachers alone: JupyterHub starts this."""

import os
from urllib.parse import urlparse

from jupyterhub.services.auth import HubOAuthCallbackHandler, HubOAuthenticated
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler, authenticated

from tools.classroom.accounts import LEARNERS, members
from tools.classroom.overview import page, records_of


class Overview(HubOAuthenticated, RequestHandler):
    """Made anew for each visit. HubOAuthenticated lets in who has the scope access:services: the hub's admins."""

    @authenticated
    def get(self) -> None:
        self.set_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
        self.set_header("Cache-Control", "no-store")
        self.write(page({name: records_of(name) for name in members(LEARNERS)}))


def main() -> None:
    prefix = os.environ["JUPYTERHUB_SERVICE_PREFIX"]
    routes = [(prefix, Overview), (prefix + "oauth_callback", HubOAuthCallbackHandler)]
    address = urlparse(os.environ["JUPYTERHUB_SERVICE_URL"])
    Application(routes, cookie_secret=os.urandom(32)).listen(address.port, address.hostname)
    IOLoop.current().start()


if __name__ == "__main__":
    main()
