"""A sub-product in Python's standard library, to be held against the contract.

It keeps everything in memory and has nothing but the contract's three
addresses, /login and /me. Known shortcomings, each shown by the check when the
program is started with --careless: the signature is that of the JSON which it
serialised again, a subscription's status is not looked at, and a cancelled
tenant's sessions go on.
"""
import hashlib, hmac, http.client, json, os, secrets, sys, threading, urllib.parse, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CARELESS = "--careless" in sys.argv
SLUG, KEY, SECRET = os.environ["APP_SLUG"], os.environ["PLATFORM_API_KEY"], os.environ["WEBHOOK_SECRET"]
lock = threading.Lock()
sessions = {}  # token: user information
gone = set()  # slugs of cancelled tenants


def user_info(code):
    """Trades a code for the user (contract, section 4.1); None when there is none."""
    request = urllib.request.Request(
        os.environ["PLATFORM_BASE_URL"] + "/api/v1/auth/sso/user-info", json.dumps({"code": code}).encode(),
        {"X-Api-Key": KEY, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=4) as answer:
            user = json.loads(answer.read(1 << 20))
        fields = [user[name] for name in ("userId", "email", "tenantSlug", "planType", "subscriptionStatus")]
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        return None
    return user if all(isinstance(f, str) and f for f in fields) else None


class Handler(BaseHTTPRequestHandler):
    def reply(self, status, text="", **headers):
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        page = {"/health": self.health, "/login": self.login, "/callback": self.callback, "/me": self.me}.get(url.path)
        return page(urllib.parse.parse_qs(url.query)) if page else self.reply(404, "nothing here")

    def health(self, _):
        self.reply(200, "ok")

    def login(self, _):
        query = urllib.parse.urlencode({"appSlug": SLUG, "redirect": "http://%s/callback" % self.headers["Host"]})
        self.reply(303, Location=os.environ["PLATFORM_URL"] + "/auth/sso?" + query)

    def callback(self, query):
        user = user_info(query["code"][0]) if "code" in query else None
        with lock:
            if not user or (not CARELESS and (user["subscriptionStatus"] != "Active" or user["tenantSlug"] in gone)):
                return self.reply(403, "you cannot be signed in")
            token = secrets.token_urlsafe()
            sessions[token] = user
        self.reply(303, Location="/me", Set_Cookie="session=%s; HttpOnly; SameSite=Lax; Path=/" % token)

    def me(self, _):
        with lock:
            user = sessions.get(self.headers.get("Cookie", "").removeprefix("session="))
        return self.reply(200, user["email"]) if user else self.reply(401, "not signed in")

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        signed = body
        try:
            event = json.loads(body)
            if CARELESS:
                signed = json.dumps(event, separators=(",", ":")).encode()
        except (ValueError, RecursionError):
            event = None
        want = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        if len(body) != length or not hmac.compare_digest(want, self.headers.get("X-Webhook-Signature", "")):
            return self.reply(401, "invalid signature")
        if not isinstance(event, dict) or not isinstance(event.get("eventType"), str):
            return self.reply(400, "no event")
        self.take(event["eventType"], event.get("tenantSlug"))
        self.reply(200, "ok")

    def take(self, kind, slug):
        with lock:
            if kind == "tenant.cancelled" and not CARELESS:
                gone.add(slug)
                for token in [t for t, user in sessions.items() if user["tenantSlug"] == slug]:
                    del sessions[token]

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # a connection that broke off


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
