"""The same frameworks after their owners followed the advice; what the documentation shows is started as shown there."""

import bottle
import flask
from aiohttp import web
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

ORIGIN = "eventemitter.example.com"


def consent(headers):
    if headers.get("WebHook-Request-Origin") != ORIGIN:
        return {}
    return {"WebHook-Allowed-Origin": ORIGIN, "WebHook-Allowed-Rate": "120"}


sdk_app = flask.Flask("sdk")


@sdk_app.route("/events", methods=["POST", "OPTIONS"])
def receive_event():
    if flask.request.method == "OPTIONS":
        return "", 204, consent(flask.request.headers)
    from_http_event(HTTPMessage(dict(flask.request.headers), flask.request.get_data()))
    return "", 204


bottle_app = bottle.Bottle()


@bottle_app.route("/events", method="OPTIONS")
def handshake_in_bottle():
    return bottle.HTTPResponse(status=204, headers=consent(bottle.request.headers))


@bottle_app.post("/events")
def receive_in_bottle():
    return bottle.HTTPResponse(status=204)


async def handshake_in_aiohttp(request):
    return web.Response(status=204, headers=consent(request.headers))


async def receive_in_aiohttp(_request):
    return web.Response(status=204)


aiohttp_app = web.Application()
aiohttp_app.router.add_options("/events", handshake_in_aiohttp)
aiohttp_app.router.add_post("/events", receive_in_aiohttp)


@csrf_exempt
@require_http_methods(["POST", "OPTIONS"])
def django_function(request):
    headers = consent(request.headers) if request.method == "OPTIONS" else {}
    return HttpResponse(status=204, headers=headers)


django_routes = [path("function", django_function)]
