"""HTTP requests to one server, on one connection per thread."""

import http.client
import json
import ssl
import threading
import urllib.parse


class Error(Exception):
    """What a server refuses. `kind` is a stable name, such as `bad-query`; `hint` and `position`
    are there if the server gave them."""

    def __init__(self, status, problem):
        self.status = status
        self.kind = str(problem.get("type", "")).rsplit(":", 1)[-1]
        self.detail = problem.get("detail", "")
        self.hint = problem.get("hint")
        self.position = problem.get("position")
        self.problem = problem
        text = self.detail or problem.get("title") or f"HTTP status {status}"
        super().__init__(f"{text} ({self.hint})" if self.hint else text)


class Transport:
    def __init__(self, url, token, timeout):
        parts = urllib.parse.urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the URL of a server, such as http://127.0.0.1:4280")
        self._host = parts.hostname
        self._port = parts.port
        self._is_tls = parts.scheme == "https"
        self._prefix = parts.path.rstrip("/")
        self._timeout = timeout
        self._headers = {"User-Agent": "hadal-python"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._local = threading.local()

    def _connect(self):
        if self._is_tls:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout, context=context
            )
        return http.client.HTTPConnection(self._host, self._port or 80, timeout=self._timeout)

    def send(self, method, path, body, headers, is_repeatable=True):
        """The response to a request, not read. A connection that the server closed while it was
        idle is opened again, once, if the request may be repeated."""
        connection = getattr(self._local, "connection", None)
        is_reused = connection is not None
        if connection is None:
            connection = self._local.connection = self._connect()
        try:
            connection.request(method, self._prefix + path, body, {**self._headers, **headers})
            response = connection.getresponse()
        except (http.client.HTTPException, OSError):
            self.close()
            if not (is_reused and is_repeatable):
                raise
            return self.send(method, path, body, headers, is_repeatable=False)
        if response.status >= 400:
            self._refuse(response)
        return response

    def _refuse(self, response):
        body = response.read()
        try:
            problem = json.loads(body)
        except ValueError:
            problem = {"detail": body.decode("utf-8", "replace")[:1000]}
        raise Error(response.status, problem if isinstance(problem, dict) else {})

    def close(self):
        """Closes the connection of this thread."""
        connection = getattr(self._local, "connection", None)
        self._local.connection = None
        if connection is not None:
            connection.close()
