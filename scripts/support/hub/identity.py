"""Imitate signing in with Hugging Face: OpenID Connect with the code flow.

Every visitor is `kim` of the organisation `lab` and consents at once. Codes are valid once, and tokens are signed. The
claims are those that huggingface_hub reads. Source: https://openid.net/specs/openid-connect-core-1_0.html
"""

import secrets
import time
from base64 import b64decode
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import FastAPI, Form, HTTPException, Request
from fastapi.responses import RedirectResponse
from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "hannun-client", "hannun-client-secret"
CLAIMS = {
    "sub": "1",
    "name": "Kim",
    "preferred_username": "kim",
    "profile": "https://huggingface.co/kim",
    "picture": "",
    "orgs": [{"sub": "2", "name": "The Lab", "preferred_username": "lab", "picture": ""}],
}


def build_provider() -> FastAPI:
    """Return the provider as an application."""
    app = FastAPI()
    key = RSAKey.generate_key(2048, {"kid": "1"})
    codes: dict[str, dict[str, str]] = {}  # redirect address and nonce of each code

    @app.get("/.well-known/openid-configuration")
    def configuration(request: Request) -> dict[str, Any]:
        here = str(request.base_url).rstrip("/")
        return {
            "issuer": here,
            "authorization_endpoint": f"{here}/oauth/authorize",
            "token_endpoint": f"{here}/oauth/token",
            "jwks_uri": f"{here}/oauth/jwks",
            "response_types_supported": ["code"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    @app.get("/oauth/jwks")
    def jwks() -> dict[str, Any]:
        return {"keys": [key.as_dict(private=False)]}

    @app.get("/oauth/authorize")
    def authorize(client_id: str, redirect_uri: str, state: str, nonce: str = "") -> RedirectResponse:
        if client_id != CLIENT:
            raise HTTPException(400, "unknown client")
        code = secrets.token_hex(8)
        codes[code] = {"redirect_uri": redirect_uri, "nonce": nonce}
        joint = "&" if "?" in redirect_uri else "?"
        return RedirectResponse(f"{redirect_uri}{joint}{urlencode({'code': code, 'state': state})}")

    @app.post("/oauth/token")
    def token(request: Request, code: Annotated[str, Form()], redirect_uri: Annotated[str, Form()]) -> dict[str, Any]:
        kind, _, credentials = request.headers.get("Authorization", "").partition(" ")
        if kind != "Basic" or b64decode(credentials).decode() != f"{CLIENT}:{SECRET}":
            raise HTTPException(401, "invalid_client")
        issued = codes.pop(code, None)
        if not issued or issued["redirect_uri"] != redirect_uri:
            raise HTTPException(400, "invalid_grant")
        now = int(time.time())
        here = str(request.base_url).rstrip("/")
        claims = CLAIMS | {"iss": here, "aud": CLIENT, "iat": now, "exp": now + 3600, "nonce": issued["nonce"]}
        return {
            "access_token": "hf_oauth_" + secrets.token_hex(8),
            "token_type": "bearer",
            "expires_in": 3600,
            "scope": "openid profile",
            "id_token": jwt.encode({"alg": "RS256", "kid": "1"}, claims, key),
        }

    return app
