import { expect, test } from "bun:test";
import { OWN_CHECKS_MAX } from "../../../src/contract/manifest/checks.ts";
import { readManifest } from "../../../src/contract/manifest/manifest.ts";

const read = (text: string) => {
  const { manifest, errors } = readManifest(`svc_version = 1\n${text}`);
  return {
    own: manifest?.ownChecks,
    required: manifest?.checks.required,
    problems: errors.map(({ severity, message }) => `${severity}: ${message}`),
  };
};
const check = (...lines: string[]) => `[[checks]]\n${lines.join("\n")}\n`;

test("checks have a command, a time limit and secrets, or are only required", () => {
  const text = [
    check('name = "test"', 'command = "npm test"', "required = true"),
    check('name = "e2e"', 'command = "e2e"', "timeout_minutes = 5", 'secrets = ["KEY", "KEY", "OTHER"]'),
    check('name = "ci / lint"', "required = true"),
  ].join("");
  expect(read(text)).toEqual({
    own: [
      { name: "test", command: "npm test", timeoutMinutes: 30, secrets: [] },
      { name: "e2e", command: "e2e", timeoutMinutes: 5, secrets: ["KEY", "OTHER"] },
    ],
    required: ["test", "ci / lint"],
    problems: [],
  });
});

test("[checks] is the short form", () => {
  expect(read('[checks]\nrequired = ["test"]')).toEqual({ own: [], required: ["test"], problems: [] });
  expect(read("checks = 3").problems).toEqual(["error: checks must be a table: [checks]."]);
});

const NAME = "must be the name of a check, of 1 to 255 characters on one line";

test.each<[what: string, text: string, names: string[], required: string[], problems: string[]]>([
  ["no name", check('command = "x"'), [], [], ['error: checks[0].name is missing: add name = "test".']],
  [
    "a name of two lines",
    check('name = "a\\nb"', 'command = "x"', "required = true"),
    [],
    [],
    [`error: checks[0].name ${NAME}.`],
  ],
  [
    "an escape in a name",
    check('name = "\\u001b[31m"', 'command = "x"'),
    [],
    [],
    [`error: checks[0].name ${NAME}.`],
  ],
  [
    "a blank command: it stays required",
    check('name = "a"', 'command = " "', "required = true"),
    [],
    ["a"],
    ["error: checks[0].command must be a command: a string of at most 8192 bytes that is not blank."],
  ],
  [
    "NUL in a command",
    check('name = "a"', 'command = "x\\u0000"'),
    [],
    [],
    ["error: checks[0].command must be a command: a string of at most 8192 bytes that is not blank."],
  ],
  [
    "too much time",
    check('name = "a"', 'command = "x"', "timeout_minutes = 121"),
    [],
    [],
    ["error: checks[0].timeout_minutes must be a whole number of minutes from 1 to 120."],
  ],
  [
    "a name again",
    check('name = "a"', 'command = "x"') + check('name = "a"', 'command = "y"'),
    ["a"],
    [],
    ['error: checks[1].name is "a" again: names must be unique, and only the first is used.'],
  ],
  [
    "neither",
    check('name = "a"'),
    [],
    [],
    ['warning: checks[0] has no effect: add command = "…" for svc to run it, or required = true.'],
  ],
  [
    "a time limit of CI",
    check('name = "a"', "required = true", "timeout_minutes = 3"),
    [],
    ["a"],
    ["error: checks[0].timeout_minutes needs command, which svc runs."],
  ],
  [
    "a reserved secret",
    check('name = "a"', 'command = "x"', 'secrets = ["SVC_TOKEN"]'),
    ["a"],
    [],
    [
      "warning: checks[0].secrets[0] names SVC_TOKEN, which is reserved for svc or the sandbox: it cannot be a secret.",
    ],
  ],
])("%s", (_, text, names, required, problems) => {
  const { own, ...rest } = read(text);
  expect([own?.map(({ name }) => name), rest]).toEqual([names, { required, problems }]);
});

test("the number of checks has a limit", () => {
  const many = Array.from({ length: OWN_CHECKS_MAX + 1 }, (_, n) => check(`name = "c${n}"`, 'command = "x"'));
  const { own, problems } = read(many.join(""));
  expect(own).toHaveLength(OWN_CHECKS_MAX);
  expect(problems).toEqual([
    `error: checks[20] exceeds the limit: only the first ${OWN_CHECKS_MAX} are used.`,
  ]);
});
