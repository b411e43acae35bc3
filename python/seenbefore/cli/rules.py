"""`seenbefore rules`: check a ruleset, and show what it says."""

from __future__ import annotations

import json

import click


@click.group()
def rules() -> None:
    """Check and show rulesets."""


@rules.command()
@click.argument("rules", metavar="FILE|NAME")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(rules: str, as_json: bool) -> None:
    """Check a ruleset; every mistake is named with its path."""
    from seenbefore.rules import Ruleset

    ruleset = Ruleset.find(rules)
    if as_json:
        click.echo(json.dumps({"label": ruleset.label, "fingerprint": ruleset.fingerprint}))
    else:
        click.echo(f"{ruleset.origin} is well: {ruleset.label}, {ruleset.fingerprint}")


@rules.command()
@click.argument("rules", metavar="FILE|NAME", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(rules: str | None, as_json: bool) -> None:
    """Show a ruleset with every setting written out, and its digests; without a name, list the built-in ones."""
    from seenbefore.rules import Ruleset, builtin_names

    if rules is None:
        names = builtin_names()
        click.echo(json.dumps({"builtin": names}) if as_json else "\n".join(names))
        return
    ruleset = Ruleset.find(rules)
    settings, identity = json.loads(ruleset.settings_json), json.loads(ruleset.identity_json)
    members = {
        "label": ruleset.label,
        "fingerprint": ruleset.fingerprint,
        "configuration": ruleset.configuration,
        "settings": settings,
        "covered_by_fingerprint": identity,
    }
    if as_json:
        click.echo(json.dumps(members, ensure_ascii=False))
        return
    click.echo(f"{ruleset.label}  ({ruleset.origin})")
    click.echo(f"fingerprint    {ruleset.fingerprint}  (what can change a key)")
    click.echo(f"configuration  {ruleset.configuration}  (the rest)")
    click.echo(json.dumps(settings, ensure_ascii=False, indent=2))
