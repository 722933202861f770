"""Judges a report of `bowline check`, and prints what it says as JSON.

SARIF is validated by the schema of the standard, which the package `@microsoft/jest-sarif` has. JUnit has
no schema that all CI systems follow: it must be XML, and its counts must be those of its cases.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import jsonschema

SCHEMA = "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"


def sarif(path):
    schema = json.loads((pathlib.Path(__file__).parent / SCHEMA).read_text())
    report = json.loads(path.read_text())
    judge = jsonschema.validators.validator_for(schema)
    judge(schema, format_checker=judge.FORMAT_CHECKER).validate(report)
    (run,) = report["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result
    of_level = lambda level: [it["ruleId"] for it in run["results"] if it["level"] == level]
    places = [place for it in run["results"] for at in it["locations"] for place in at["logicalLocations"]]
    return {
        "errors": of_level("error"),
        "warnings": of_level("warning"),
        "targets": [it["fullyQualifiedName"] for it in places],
        "rules": len(rules),
    }


def junit(path):
    suites = ElementTree.parse(path).getroot()
    assert suites.tag == "testsuites", suites.tag
    cases = suites.findall("testsuite/testcase")
    failed = [it for it in cases if it.find("failure") is not None]
    skipped = [it for it in cases if it.find("skipped") is not None]
    for level in [suites, *suites.findall("testsuite")]:
        assert int(level.get("tests")) == len(cases), level.attrib
        assert int(level.get("failures")) == len(failed), level.attrib
        assert int(level.get("errors")) == 0, level.attrib
    assert int(suites.find("testsuite").get("skipped")) == len(skipped)
    assert all(it.get("classname") and it.get("name") for it in cases)
    assert all(it.find("failure").get("message") and it.find("failure").text for it in failed)
    return {
        "suites": [it.get("name") for it in suites.findall("testsuite")],
        "failed": [it.get("name").split(" ")[0] for it in failed],
        "tests": len(cases),
        "skipped": len(skipped),
    }


judges = {"sarif": sarif, "junit": junit}
print(json.dumps(judges[sys.argv[1]](pathlib.Path(sys.argv[2]))))
