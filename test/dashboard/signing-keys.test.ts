import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { barriers, CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { git, Remote } from "../helpers/remote.ts";
import { generateKey, SSH_KEYGEN, sign, withSignature } from "../helpers/ssh-keys.ts";

const [chromium, hasChromium] = CHROMIUM;
const test = needs(`${chromium} and ssh-keygen`, hasChromium && SSH_KEYGEN);
const svc = startDashboard();
const remote = new Remote();
const directory = mkdtempSync(join(tmpdir(), "svc-signing-"));
let project: { project_id: string; slug: string };

beforeAll(async () => {
  if (!hasChromium) return;
  remote.commit("main", { a: "1\n" });
  project = await svc.api.project(remote.url);
});
afterAll(() => {
  remote.remove();
  rmSync(directory, { recursive: true });
});

test("a signing key is added in the settings, marks commits as verified, and is removed", async () => {
  const key = generateKey(directory, "ed25519");
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const who = `First <${FIRST}> 1700000000 +0000`;
  const [tree, parent] = remote.git("rev-parse", "work^{tree}", "work").trim().split("\n");
  const object = `tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\nSigned\n`;
  const args = ["-C", remote.path, "hash-object", "-t", "commit", "-w", "--stdin"];
  remote.branch("work", git(args, Buffer.from(withSignature(object, sign(key, object)))).trim());
  const body = { title: "Signed work", head_ref: "work" };
  const at = `/v1/projects/${project.project_id}/change-requests`;
  const { number } = (await svc.api.call("POST", at, { body })).body;

  const { page, faults, close } = await svc.openAs(FIRST, "/settings");
  const section = page.locator("section", { has: page.getByRole("heading", { name: "Signing keys" }) });
  await section.getByText("No signing keys yet.").waitFor();
  await section.getByRole("button", { name: "New signing key" }).click();
  await page.getByLabel("Public key").fill("ssh-ed25519 AAAA");
  await page.getByRole("button", { name: "Add the key" }).click();
  await page.getByText("must be an SSH public key").waitFor();
  await page.getByLabel("Public key").fill(`${key.key} ada@laptop`);
  await page.getByRole("button", { name: "Add the key" }).click();
  await section.getByText("ada@laptop").waitFor();
  expect(await barriers(page)).toEqual([]);

  await page.goto(
    new URL(`/projects/${project.slug}/change-requests/${number}?view=commits`, page.url()).href,
  );
  const commits = page.getByRole("region", { name: "Commits" });
  await commits.getByText("Signed", { exact: true }).waitFor();
  expect(await commits.getByText("Verified", { exact: true }).count()).toBe(1);
  await commits
    .getByText(/^More of/)
    .first()
    .click();
  await commits.getByText("Signed with a key of first").waitFor();
  expect(await barriers(page)).toEqual([]);

  await page.goBack();
  await section.getByRole("button", { name: "Remove ada@laptop" }).click();
  await page.getByRole("button", { name: "Remove the key" }).click();
  await section.getByText("No signing keys yet.").waitFor();
  await page.goForward();
  await commits.getByText("Signed", { exact: true }).waitFor();
  expect(await commits.getByText("Verified", { exact: true }).count()).toBe(0);
  // the key that was refused
  expect(faults().filter((fault) => !fault.includes("400"))).toEqual([]);
  await close();
});
