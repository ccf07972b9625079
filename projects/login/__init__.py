"""How people log in: local passwords, the hospital's own provider (OIDC), second factors.

django-allauth keeps the steps of a log-in and the protocols; who is let in, and what the trail says of it, is
here. WeCom's scan is in `wechat.provider`, where WeCom is asked.
"""
