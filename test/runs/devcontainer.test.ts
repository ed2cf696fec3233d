import { expect, test } from "bun:test";
import { type Devcontainer, readDevcontainer } from "../../src/features/runs/devcontainer.ts";

const PATH = ".devcontainer/devcontainer.json";
const read = (value: unknown): Devcontainer =>
  readDevcontainer(PATH, typeof value === "string" ? value : JSON.stringify(value));
const dockerfile = (more: Record<string, unknown> = {}) => ({
  is: "dockerfile",
  dockerfile: ".devcontainer/Dockerfile",
  context: ".devcontainer",
  args: {},
  target: null,
  ...more,
});

test("is JSON with comments and trailing commas", () => {
  const text =
    '// one\n{ "image": "mcr.microsoft.com/devcontainers/base:bookworm", /* two */ "name": "x", }\n';
  expect(read(text)).toEqual({
    image: { is: "name", name: "mcr.microsoft.com/devcontainers/base:bookworm" },
    user: null,
    environment: {},
    setup: null,
    ignored: [],
  });
});

test.each<[Record<string, unknown>, unknown]>([
  [{}, null],
  [{ dockerComposeFile: "compose.yaml", service: "app" }, null],
  [{ image: "node:22" }, { is: "name", name: "node:22" }],
  [{ image: `a@sha256:${"0".repeat(64)}` }, { is: "name", name: `a@sha256:${"0".repeat(64)}` }],
  [{ build: { dockerfile: "Dockerfile" } }, dockerfile()],
  [{ dockerFile: "./Dockerfile" }, dockerfile()],
  [{ build: { dockerfile: "Dockerfile", context: ".." } }, dockerfile({ context: "." })],
  [
    { build: { dockerfile: "../ci/Dockerfile", context: "../ci/" } },
    dockerfile({ dockerfile: "ci/Dockerfile", context: "ci" }),
  ],
  [{ dockerFile: "Dockerfile", context: "..", image: "node" }, dockerfile({ context: "." })],
  [
    {
      build: {
        dockerfile: "Dockerfile",
        target: "dev",
        args: { A: "1", B: "${localEnv:X}", "C D": "2", E: 3 },
      },
    },
    dockerfile({ target: "dev", args: { A: "1" } }),
  ],
  [{ build: { dockerfile: "Dockerfile", target: "a b", args: ["x"] } }, dockerfile()],
])("the image of %j", (value, image) => {
  expect(read(value).image).toEqual(image as Devcontainer["image"]);
});

test.each([
  ["", "is not a JSON object"],
  ["[]", "is not a JSON object"],
  ["{", "is not a JSON object"],
  ['{"image": "node\\nRUN evil"}', "names an invalid image"],
  ['{"image": "--privileged"}', "names an invalid image"],
  ['{"build": {"dockerfile": "../../Dockerfile"}}', "which is not in the repository"],
  ['{"build": {"dockerfile": "/etc/passwd"}}', "which is not in the repository"],
  ['{"dockerFile": "Dockerfile", "context": "../.."}', "which is not in the repository"],
  [JSON.stringify({ postCreateCommand: "x".repeat(8193) }), "has commands of more than 8192 bytes"],
])("refuses %j", (text, fault) => {
  expect(() => read(text)).toThrow(fault);
});

test.each<[Record<string, unknown>, string | null]>([
  [{ postCreateCommand: "npm ci" }, "npm ci"],
  [{ postCreateCommand: ["npm", "ci", "it's"] }, "'npm' 'ci' 'it'\\''s'"],
  [
    { postCreateCommand: { a: "npm ci", b: ["make", "deps"], c: { d: "no" } } },
    "(npm ci) && ('make' 'deps')",
  ],
  [{ postCreateCommand: "b", onCreateCommand: "a", updateContentCommand: "" }, "(a) && (b)"],
  [{ postStartCommand: "a", postAttachCommand: "b", initializeCommand: "c" }, null],
  [{ postCreateCommand: 1 }, null],
])("the setup of %j", (value, setup) => {
  expect(read(value).setup).toBe(setup);
});

test("variables have the rules of secrets, and users are ordinary ones; the log says what is not used", () => {
  const value = {
    image: "node",
    features: { "ghcr.io/devcontainers/features/go:1": {} },
    mounts: [],
    runArgs: ["--privileged"],
    privileged: true,
    customizations: {},
    forwardPorts: [3000],
    remoteUser: "node",
    containerEnv: { A: "1", PATH: "/evil", LD_PRELOAD: "x", lower: "x", B: "${localEnv:HOME}", N: 1 },
    remoteEnv: { C: "${containerWorkspaceFolder}/bin", SVC_TOKEN: "x", NODE_OPTIONS: "--require=x" },
  };
  expect(read(value)).toEqual({
    image: { is: "name", name: "node" },
    user: "node",
    environment: { A: "1", C: "/workspace/bin" },
    setup: null,
    ignored: [
      ...["features", "mounts", "runArgs", "privileged"],
      ...["PATH", "LD_PRELOAD", "lower", "B", "N"].map((name) => `containerEnv.${name}`),
      ...["remoteEnv.SVC_TOKEN", "remoteEnv.NODE_OPTIONS"],
    ],
  });
  for (const user of ["root", "0", "a b", "x".repeat(40)])
    expect([read({ remoteUser: user }).user, read({ remoteUser: user }).ignored]).toEqual([
      null,
      [`the user ${JSON.stringify(user)}`],
    ]);
});
