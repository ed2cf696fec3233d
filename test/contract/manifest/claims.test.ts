import { expect, test } from "bun:test";
import { readManifestIn } from "../../../src/contract/manifest/claims.ts";

const TREE: Record<string, "file" | "folder"> = {
  ".svc/Dockerfile": "file",
  "docker/Dockerfile": "file",
  docker: "folder",
  agentrt: "folder",
  "agentrt/agents/triage.md": "file",
  "agentrt/agent/nested/deep.md": "file",
  "web/dist": "folder",
  web: "folder",
};
const cron = (slug: string, agent: string) =>
  `[[triggers]]\nslug = "${slug}"\ntype = "cron"\nprompt = "x"\ncron = "0 9 * * *"\nagent = ${JSON.stringify(agent)}`;

test.each<[string, ...string[]]>([
  [""],
  ['[sandbox]\ndockerfile = ".svc/Dockerfile"'],
  ['[sandbox]\ndockerfile = "docker/Dockerfile"\ncontext = "docker"\n[opencode]\nconfig_dir = "agentrt"'],
  [
    '[sandbox]\ndockerfile = "Dockerfile"\ncontext = "."',
    '3:14 error: sandbox.dockerfile names the file "Dockerfile", which is not in the repository.',
  ],
  [
    '[sandbox]\ndockerfile = "docker"',
    '3:14 error: sandbox.dockerfile names the file "docker", which is not in the repository.',
  ],
  [
    '[sandbox]\ncontext = "docker/Dockerfile"',
    '3:11 error: sandbox.context names the folder "docker/Dockerfile", which is not in the repository.',
  ],
  [
    '[sandbox]\ndockerfile = ".svc/Dockerfile"\ncontext = "docker"',
    '3:14 error: sandbox.dockerfile must be below its context, "docker".',
  ],
  [
    'opencode.config_dir = ".svc/agentrt"',
    '2:23 error: opencode.config_dir names the folder ".svc/agentrt", which is not in the repository.',
  ],
  ['[[apps]]\nslug = "a"\nsource.root_path = "web"\nstatic.dir = "dist"'],
  ['[[apps]]\nslug = "a"\nstatic.dir = "."'],
  ['[[apps]]\nslug = "a"\nbuild.command = "make"\nstatic.dir = "made"'],
  [
    '[[apps]]\nslug = "a"\nsource.root_path = "api"\nrun = { command = "x", port = 80 }',
    '4:20 error: apps[0].source.root_path names the folder "api", which is not in the repository.',
  ],
  [
    '[[apps]]\nslug = "a"\nstatic.dir = "dist"',
    '4:14 error: apps[0].static.dir names the folder "dist", which is not in the repository.',
  ],
  [
    `[opencode]\nconfig_dir = "agentrt"\n${cron("a", "triage")}\n${cron("b", "nested/deep")}\n${cron("c", "plan")}`,
  ],
  [
    `${cron("a", "triage")}\n${cron("b", "triage")}`,
    '7:9 warning: triggers[0].agent names the agent "triage", but the repository has no file ".svc/agentrt/agents/triage.md".',
  ],
  [
    `${cron("a", "../../etc/passwd")}`,
    '7:9 warning: triggers[0].agent names the agent "../../etc/passwd", but the repository has no file ".svc/agentrt/agents/../../etc/passwd.md".',
  ],
  ["[[triggers", "2:3 error: The file is not TOML: incomplete key-value: cannot find end of key."],
])("%j", async (text, ...problems) => {
  const asked: string[] = [];
  const { errors } = await readManifestIn(`svc_version = 1\n${text}`, async (path) => {
    asked.push(path);
    return TREE[path] ?? null;
  });
  expect(
    errors.map(({ line, column, severity, message }) => `${line}:${column} ${severity}: ${message}`),
  ).toEqual(problems);
  // nothing outside of the repository is looked at, and nothing twice
  for (const path of asked) expect(path).not.toMatch(/^\/|(?:^|\/)\.\.?(?:\/|$)/);
  expect(new Set(asked).size).toBe(asked.length);
});
