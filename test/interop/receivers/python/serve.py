"""Starts every framework as it comes and with the handler, and prints the addresses as one line of JSON."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from wsgiref.simple_server import WSGIRequestHandler, make_server

import advised
import django
import plain
import shown.django
import shown.fastapi
import shown.flask
import uvicorn
from aiohttp import web
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import include, path

HOST = "127.0.0.1"


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


class Continuing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_OPTIONS(self):
        self.respond(200)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.respond(202)

    def respond(self, status):
        # What a server of this module sends to a client that asked for it; nothing here checks that it did.
        self.handle_expect_100()
        self.send_response(status)
        self.send_header("WebHook-Allowed-Origin", self.headers.get("WebHook-Request-Origin", ""))
        self.send_header("WebHook-Allowed-Rate", "120")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def serve_continuing():
    server = ThreadingHTTPServer((HOST, 0), Continuing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def serve_wsgi(app):
    server = make_server(HOST, 0, app, handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


async def serve_asgi(app):
    server = uvicorn.Server(uvicorn.Config(app, host=HOST, port=0, log_level="warning"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    return server.servers[0].sockets[0].getsockname()[1], task


async def serve_aiohttp(app):
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, HOST, 0)
    await site.start()
    return runner.addresses[0][1]


async def main():
    settings.configure(
        ALLOWED_HOSTS=["*"], MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"], ROOT_URLCONF=()
    )
    django.setup()
    settings.ROOT_URLCONF = (
        path("plain/", include(plain.django_routes)),
        path("advised/", include(advised.django_routes)),
        path("advised/", include(shown.django.urlpatterns)),
    )
    of_django = serve_wsgi(get_wsgi_application())
    apps = {
        "plain": (plain.flask_app, plain.sdk_app, plain.bottle_app, plain.fastapi_app, plain.aiohttp_app),
        "advised": (shown.flask.app, advised.sdk_app, advised.bottle_app, shown.fastapi.app, advised.aiohttp_app),
    }
    addresses, tasks = {"continuing": f"http://{HOST}:{serve_continuing()}/events"}, []
    for setup, (in_flask, with_sdk, in_bottle, in_fastapi, in_aiohttp) in apps.items():
        of_fastapi, task = await serve_asgi(in_fastapi)
        tasks.append(task)
        ports = {
            "Flask": serve_wsgi(in_flask),
            "FastAPI": of_fastapi,
            "aiohttp": await serve_aiohttp(in_aiohttp),
            "Bottle": serve_wsgi(in_bottle),
            "CloudEvents SDK in Flask": serve_wsgi(with_sdk),
        }
        addresses[setup] = {
            **{name: f"http://{HOST}:{port}/events" for name, port in ports.items()},
            "Django with `require_POST`": f"http://{HOST}:{of_django}/{setup}/function",
            "Django with `View`": f"http://{HOST}:{of_django}/{setup}/events",
        }
    print(json.dumps(addresses), flush=True)
    await asyncio.gather(*tasks)


asyncio.run(main())
