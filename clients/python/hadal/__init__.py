"""A client of Hadal: log events, and query them.

    import hadal

    db = hadal.connect("http://127.0.0.1:4280")
    db.log("requests", {"service": "web", "ms": 12.5})
    db.flush()
    for service, count in db.query("SELECT service, count(*) FROM requests GROUP BY service"):
        print(service, count)
"""

from hadal.answer import Answer, Incomplete
from hadal.client import Client, connect
from hadal.transport import Error

__all__ = ["Answer", "Client", "Error", "Incomplete", "connect"]
