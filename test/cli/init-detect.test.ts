import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { detect, titleOf } from "../../cli/commands/init/detect/detect.ts";
import { look } from "../../cli/commands/init/detect/look.ts";
import { projectFiles } from "../../cli/commands/init/scaffold.ts";
import { readManifest } from "../../src/contract/manifest/manifest.ts";
import { dockerfileFault } from "../../src/sandboxes/docker/images/dockerfile.ts";

type Files = Readonly<Record<string, string>>;

/** Of a repository with these files. */
function detectIn(files: Files) {
  const folders = new Map<string, Map<string, string>>([["", new Map()]]);
  for (const [path, text] of Object.entries(files)) {
    const folder = path.includes("/") ? dirname(path) : "";
    const name = path.slice(path.lastIndexOf("/") + 1);
    folders.set(folder, (folders.get(folder) ?? new Map()).set(name, text));
  }
  return detect([...folders].map(([path, files]) => ({ path, files })));
}

const package_ = (more: Record<string, unknown> = {}) =>
  JSON.stringify({ dependencies: { a: "1" }, ...more });
const VENV = "python3 -m venv .venv && echo '*' > .venv/.gitignore && .venv/bin/pip install";
const GEMS = 'bundle config set --global path "$HOME/.bundle/gems" && bundle install';

describe("a repository", () => {
  test.each<[title: string, setup: string | null, image: string, files: Files]>([
    [
      "Node (package.json, package-lock.json)",
      "npm ci",
      "node:24-",
      { "package.json": package_(), "package-lock.json": "" },
    ],
    ["Node (package.json)", "npm install --no-package-lock", "node:24-", { "package.json": package_() }],
    ["Node (package.json)", null, "node:24-", { "package.json": "{}" }],
    ["Node (package.json)", null, "node:24-", { "package.json": "not JSON" }],
    [
      "Node 20 (package.json, .nvmrc)",
      "npm install --no-package-lock",
      "node:20-",
      { "package.json": package_({ engines: { node: "18" } }), ".nvmrc": "v20.11.1\n" },
    ],
    [
      "Node (package.json)",
      "npm install --no-package-lock",
      "node:24-",
      { "package.json": package_(), ".nvmrc": "lts/*" },
    ],
    [
      "Node 18 (package.json)",
      "npm install --no-package-lock",
      "node:18-",
      { "package.json": package_({ engines: { node: "^18.2.0" } }) },
    ],
    [
      "Node (package.json)",
      "npm install --no-package-lock",
      "node:24-",
      { "package.json": package_({ engines: { node: ">=18" } }) },
    ],
    [
      "Node 22 (package.json)",
      "npm install --no-package-lock",
      "node:22-",
      { "package.json": package_({ engines: { node: ">=18 <23" } }) },
    ],
    [
      "Node (package.json, pnpm-lock.yaml)",
      "pnpm install --frozen-lockfile",
      "--global pnpm\n",
      { "package.json": package_(), "pnpm-lock.yaml": "" },
    ],
    [
      "Node (package.json, pnpm-lock.yaml)",
      "pnpm install --frozen-lockfile",
      "--global pnpm@9.1.0\n",
      { "package.json": package_({ packageManager: "pnpm@9.1.0+sha512.a" }), "pnpm-lock.yaml": "" },
    ],
    [
      "Node (package.json, yarn.lock)",
      "yarn install --frozen-lockfile",
      "node:24-",
      { "package.json": package_(), "yarn.lock": "" },
    ],
    [
      "Node (package.json, yarn.lock)",
      "yarn install --immutable",
      "corepack enable",
      { "package.json": package_({ packageManager: "yarn@4.5.0" }), "yarn.lock": "" },
    ],
    [
      "Node (package.json, yarn.lock)",
      "yarn install --immutable",
      "corepack enable",
      { "package.json": package_(), "yarn.lock": "", ".yarnrc.yml": "" },
    ],
    [
      "Node (package.json, bun.lock)",
      "bun install --frozen-lockfile",
      "--global bun\n",
      { "package.json": package_(), "bun.lock": "" },
    ],
    ["Python (requirements.txt)", `${VENV} -r requirements.txt`, "python:3.13-", { "requirements.txt": "a" }],
    [
      "Python (requirements.txt, requirements-dev.txt)",
      `${VENV} -r requirements.txt -r requirements-dev.txt`,
      "python:3.13-",
      { "requirements.txt": "a", "requirements-dev.txt": "b" },
    ],
    [
      "Python (pyproject.toml)",
      `${VENV} -e .`,
      "python:3.13-",
      { "pyproject.toml": "[project]\nrequires-python = '>=3.9'" },
    ],
    ["Python (pyproject.toml)", null, "python:3.13-", { "pyproject.toml": "[tool.black]\n" }],
    [
      "Python 3.11 (pyproject.toml, uv.lock)",
      "uv sync --locked",
      "pip install --no-cache-dir uv",
      { "pyproject.toml": '[project]\nrequires-python = ">=3.9,<3.12"', "uv.lock": "" },
    ],
    [
      "Python 3.12 (pyproject.toml, poetry.lock, .python-version)",
      "poetry install --no-interaction",
      "pip install --no-cache-dir poetry",
      { "pyproject.toml": "[tool.poetry]\n", "poetry.lock": "", ".python-version": "3.12.1\n" },
    ],
    [
      "Python (Pipfile.lock, Pipfile)",
      "pipenv sync --dev",
      "pip install --no-cache-dir pipenv",
      { Pipfile: "", "Pipfile.lock": "" },
    ],
    [
      "Go 1.23 (go.mod, go.sum)",
      "go mod download",
      "golang:1.23-",
      { "go.mod": "module x\n\ngo 1.23.4\n\nrequire y v1\n", "go.sum": "" },
    ],
    ["Go (go.mod)", null, "golang:1-", { "go.mod": "module x\n\ngo 1.16\n" }],
    [
      "Rust (Cargo.toml, Cargo.lock)",
      "cargo fetch --locked",
      "rust:1-",
      { "Cargo.toml": "", "Cargo.lock": "" },
    ],
    [
      "Rust 1.80 (Cargo.toml, rust-toolchain.toml)",
      "cargo fetch",
      "toolchain install 1.80\n",
      { "Cargo.toml": "", "rust-toolchain.toml": '[toolchain]\nchannel = "1.80"\n' },
    ],
    [
      "Rust nightly (Cargo.toml, rust-toolchain)",
      "cargo fetch",
      "toolchain install nightly\n",
      { "Cargo.toml": "", "rust-toolchain": "nightly\n" },
    ],
    [
      "Ruby 3.2 (Gemfile, Gemfile.lock, .ruby-version)",
      GEMS,
      "ruby:3.2-",
      { Gemfile: "", "Gemfile.lock": "", ".ruby-version": "ruby-3.2.2\n" },
    ],
    [
      "Ruby 3.3 (Gemfile)",
      GEMS,
      "ruby:3.3-",
      { Gemfile: 'source "x"\nruby "~> 3.3.0"\n'.replace("~> ", "") },
    ],
    [
      "Java 17 (pom.xml)",
      "mvn --batch-mode dependency:go-offline",
      "eclipse-temurin:17-",
      { "pom.xml": "<java.version>17</java.version>" },
    ],
    [
      "Java 17 (pom.xml, mvnw)",
      "sh mvnw --batch-mode dependency:go-offline",
      "eclipse-temurin:17-",
      { "pom.xml": "<maven.compiler.release>16</maven.compiler.release>", mvnw: "" },
    ],
    [
      "Java (build.gradle.kts, gradlew)",
      "sh gradlew --no-daemon dependencies",
      "eclipse-temurin:21-",
      { "build.gradle.kts": "", gradlew: "" },
    ],
    ["Java (build.gradle)", "gradle --no-daemon dependencies", "gradle:8-", { "build.gradle": "" }],
    [
      "PHP (composer.json, composer.lock)",
      "composer install --no-interaction",
      "php-zip php-gd php-pgsql ",
      { "composer.json": '{"require":{"ext-gd":"*","ext-pdo_pgsql":"*"}}', "composer.lock": "" },
    ],
  ])("%s: %s", (title, setup, image, files) => {
    const detected = detectIn(files);
    expect([detected.found.map(titleOf), detected.setup]).toEqual([[title], setup]);
    expect(`${detected.image.join("\n")}\n`).toContain(image);
  });

  test("of several languages has all of them, in the folders that have them", () => {
    const { found, setup, image } = detectIn({
      "go.mod": "module x\ngo 1.22\nrequire y v1\n",
      "web app/package.json": package_(),
      "web app/package-lock.json": "",
      "api/package.json": package_(),
      "tools/go.mod": "module z\nrequire y v1\n",
    });
    expect(found.map(titleOf)).toEqual([
      "Node (web app/package.json, web app/package-lock.json)",
      "Node (api/package.json)",
      "Go 1.22 (go.mod)",
    ]);
    expect(setup).toBe(
      "(cd 'web app' && npm ci) && (cd api && npm install --no-package-lock) && go mod download",
    );
    expect(image.filter((line) => line.startsWith("COPY"))).toEqual([
      "COPY --from=node:24-bookworm /usr/local /usr/local",
      "COPY --from=golang:1.22-bookworm /usr/local/go /usr/local/go",
    ]);
  });

  test.each<[string, Files]>([
    ["nothing", {}],
    ["no known language", { Makefile: "" }],
    [
      "everything",
      {
        "package.json": package_(),
        "requirements.txt": "",
        "go.mod": "",
        "Cargo.toml": "",
        Gemfile: "",
        "pom.xml": "",
        "composer.json": "",
      },
    ],
    [
      "hostile texts",
      {
        "package.json": package_({ packageManager: "pnpm@1; rm -rf /" }),
        ".nvmrc": "20 AS x\nRUN evil",
        "rust-toolchain": "x\nRUN evil",
        "Cargo.toml": "",
        "go.mod": "go 1.22evil\n",
        "a\nRUN evil/Gemfile": "",
      },
    ],
  ])("with %s gets a valid manifest and a Dockerfile that svc builds", (_, files) => {
    const detected = detectIn(files);
    const written = projectFiles("shop", "", detected);
    const textOf = (path: string) => written.find((file) => file.path === path)?.text ?? "";
    const { manifest, errors } = readManifest(textOf("svc.toml"));
    expect([errors, manifest?.sandbox.setup]).toEqual([[], detected.setup]);
    const dockerfile = textOf(".svc/Dockerfile");
    expect(dockerfileFault(dockerfile)).toBeNull();
    expect(dockerfile.match(/^FROM .*/gm)).toEqual([
      detected.image.length === 0 ? "FROM debian:bookworm-slim" : "FROM buildpack-deps:bookworm",
    ]);
    expect(dockerfile).not.toMatch(/^RUN evil|; rm/m);
  });
});

test("a devcontainer.json is used instead of a Dockerfile, with its commands", () => {
  const folders = [{ path: "", files: new Map([["go.mod", "require x v1"]]) }];
  const path = ".devcontainer/devcontainer.json";
  for (const [text, setup] of [
    ['{"image": "a"}', "go mod download"],
    ['{"image": "a", "postCreateCommand": "make"}', null],
  ] as const) {
    const detected = detect(folders, { path, text });
    expect([detected.setup, detected.devcontainer]).toEqual([setup, path]);
    const files = projectFiles("shop", "", detected);
    expect(files.map((file) => file.path)).not.toContain(".svc/Dockerfile");
    const { manifest, errors } = readManifest(files[0]?.text ?? "");
    expect([errors, manifest?.sandbox.dockerfile, manifest?.sandbox.setup]).toEqual([[], null, setup]);
    const named = projectFiles("shop", '[sandbox]\ndockerfile = "Dockerfile"', detected);
    expect(named.map((file) => file.path)).toContain("Dockerfile");
  }
});

test("a repository is read without its tests and links, and only the files that matter", async () => {
  const root = mkdtempSync(join(tmpdir(), "svc-detect-"));
  try {
    for (const folder of ["web", "node_modules", "tests", ".hidden"]) {
      mkdirSync(join(root, folder));
      writeFileSync(join(root, folder, "package.json"), package_());
    }
    writeFileSync(join(root, "README.md"), "long");
    symlinkSync("/etc/passwd", join(root, "requirements.txt"));
    symlinkSync(join(root, "web"), join(root, "link"));
    const folders = await look(root);
    expect(folders.map(({ path, files }) => [path, [...files]])).toEqual([
      ["", [["README.md", ""]]],
      ["web", [["package.json", package_()]]],
    ]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
