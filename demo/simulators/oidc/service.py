"""The stand-in of a hospital's OpenID Connect provider: code flow with PKCE, tokens signed with ES256."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from demo.simulators.http import Request, Response
from demo.simulators.state import State

KEY_ID, LIFE_S = "stand-in", 300
PAGE = """<!DOCTYPE html><html lang="zh"><meta charset="utf-8">
<title>统一身份认证</title><h1>统一身份认证</h1>{}</html>"""


class OidcService:
    """Whoever opens the page says who they are: the people are those that were configured."""

    name = "oidc"
    prefix = "/oidc/"

    def __init__(self, state: State) -> None:
        self._state = state
        self._client = {"client_id": "iit-manager", "client_secret": "demo-oidc-secret"}
        self._people: list[dict[str, Any]] = []
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.reset()

    def reset(self) -> None:
        """Codes and tokens are forgotten, and nothing is spoilt."""
        self._codes: dict[str, dict[str, str]] = {}
        self._tokens: dict[str, dict[str, Any]] = {}
        self._spoilt: dict[str, Any] = {}

    def configure(self, settings: dict[str, Any]) -> None:
        """`client_id`, `client_secret`; `people`: their claims, each with a `sub`."""
        self._people = settings.get("people", self._people)
        self._client |= {name: settings[name] for name in self._client if name in settings}

    def control(self, path: str, request: Request) -> Response | None:
        """POST spoil: claims that ID tokens say instead; `sign`, `userinfo`: these are wrong."""
        if path != "spoil":
            return None
        self._spoilt = json.loads(request.body or b"{}")
        return Response.json({"ok": True})

    def handle(self, request: Request) -> Response:
        """Discovery, keys, the page, the token, what is known of somebody."""
        issuer = f"http://{request.headers.get('host', '')}/oidc"
        path = request.path.removeprefix(self.prefix)
        if path == ".well-known/openid-configuration":
            return Response.json(_described(issuer))
        if path == "jwks":
            key = json.loads(ECAlgorithm.to_jwk(self._key.public_key()))
            return Response.json({"keys": [key | {"kid": KEY_ID, "use": "sig", "alg": "ES256"}]})
        if path == "authorize":
            return self._authorize(request)
        if path == "token" and request.method == "POST":
            return self._token(request, issuer)
        if path == "userinfo":
            token = request.headers.get("authorization", "").removeprefix("Bearer ")
            found = self._tokens.get(token)
            spoilt = {"sub": "nobody"} if self._spoilt.get("userinfo") else {}
            return Response.json({**found, **spoilt} if found else {}, 200 if found else 401)
        return Response.json({"error": "not_found"}, 404)

    def _authorize(self, request: Request) -> Response:
        asked = {name: values[0] for name, values in request.query.items()}
        if asked.get("client_id") != self._client["client_id"]:
            return Response.text("unknown client_id", 400)
        if who := asked.pop("who", ""):
            code = secrets.token_urlsafe(16)
            self._codes[code] = asked | {"who": who}
            back = urlencode({"code": code, "state": asked.get("state", "")})
            return Response(302, headers={"Location": f"{asked['redirect_uri']}?{back}"})
        links = [
            f'<p><a href="?{escape(urlencode(asked | {"who": one["sub"]}))}">{escape(str(one["name"]))}</a></p>'
            for one in self._people
        ]
        return Response.text(PAGE.format("".join(links)), content_type="text/html; charset=utf-8")

    def _token(self, request: Request, issuer: str) -> Response:
        said = dict(parse_qsl(request.text))
        asked = self._codes.pop(said.get("code", ""), None)
        if any(said.get(name) != value for name, value in self._client.items()):
            return Response.json({"error": "invalid_client"}, 401)
        if asked is None or asked["redirect_uri"] != said.get("redirect_uri"):
            return Response.json({"error": "invalid_grant"}, 400)
        challenge = hashlib.sha256(said.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(challenge).rstrip(b"=").decode() != asked.get("code_challenge"):
            return Response.json({"error": "invalid_grant"}, 400)
        claims = next(one for one in self._people if one["sub"] == asked["who"])
        token, now = secrets.token_urlsafe(16), int(self._state.timestamp())
        self._tokens[token] = claims
        issued = {"iss": issuer, "aud": self._client["client_id"], "iat": now, "exp": now + LIFE_S}
        content = {**claims, **issued, "nonce": asked.get("nonce"), **self._spoilt}
        is_forged = content.pop("sign", False)
        key = ec.generate_private_key(ec.SECP256R1()) if is_forged else self._key
        signed = jwt.encode(content, key, algorithm="ES256", headers={"kid": KEY_ID})
        return Response.json({"access_token": token, "token_type": "Bearer", "id_token": signed})


def _described(issuer: str) -> dict[str, Any]:
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "userinfo_endpoint": f"{issuer}/userinfo",
        "jwks_uri": f"{issuer}/jwks",
        "response_types_supported": ["code"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_post"],
    }
