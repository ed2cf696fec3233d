import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import manifest from "../../package.json" with { type: "json" };
import checksums from "../bun-runtimes.json" with { type: "json" };
import { type LockedPackage, lockedPackages } from "./locked-packages.ts";

/** What joins licenses in an SPDX expression. */
const OPERATOR = /\s(?:AND|OR|WITH)\s/;
const LICENSES = new Contrib.License.Factories.LicenseFactory((text) => OPERATOR.test(text));

/**
 * The bill of materials of a release in CycloneDX 1.6 JSON: the packages of bun.lock that programs contain, and the Bun of
 * each platform. It depends only on the checkout: it has neither a time nor a serial number.
 * @param root the folder of bun.lock and node_modules, which knows the licenses
 * @throws ReleaseBuildError
 */
export function sbomOf(root: string): string {
  const { direct, packages } = lockedPackages(Bun.JSONC.parse(readFileSync(join(root, "bun.lock"), "utf8")));
  const bom = new Models.Bom();
  const svc = new Models.Component(Enums.ComponentType.Application, manifest.name, {
    bomRef: `${manifest.name}@${manifest.version}`,
    version: manifest.version,
  });
  setLicense(svc, manifest.license);
  bom.metadata.component = svc;
  const components = componentsOf(packages, root);
  for (const { key, uses } of packages) {
    const component = components.get(key);
    if (!component) continue;
    bom.components.add(component);
    for (const used of uses) addUse(component, components.get(used));
  }
  for (const key of direct) addUse(svc, components.get(key));
  for (const [name, integrity] of Object.entries(checksums)) {
    const sha512 = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
    const bun = npmComponent({ name, version: Bun.version, sha512 }, "MIT");
    bom.components.add(bun);
    addUse(svc, bun);
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function addUse(user: Models.Component, used: Models.Component | undefined): void {
  if (used) user.dependencies.add(used.bomRef);
}

/** The component of each place of bun.lock: a version that has several places is one component. */
function componentsOf(packages: readonly LockedPackage[], root: string): Map<string, Models.Component> {
  const versions = new Map<string, Models.Component>();
  return new Map(
    packages.map((each) => {
      const version = `${each.name}@${each.version}`;
      const component = versions.get(version) ?? componentOf(each, root);
      versions.set(version, component);
      return [each.key, component];
    }),
  );
}

function componentOf(found: LockedPackage, root: string): Models.Component {
  return npmComponent(found, licenseOf(found, root));
}

function npmComponent(
  { name, version, sha512 }: Pick<LockedPackage, "name" | "version" | "sha512">,
  license: string | null,
): Models.Component {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const [first = "", second] = name.split("/");
  const component = new Models.Component(Enums.ComponentType.Library, second ?? first, {
    version,
    purl,
    bomRef: purl,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-512"], sha512]]),
    ...(second !== undefined && { group: first }),
  });
  if (license !== null) setLicense(component, license);
  return component;
}

function setLicense(component: Models.Component, license: string): void {
  component.licenses.add(LICENSES.makeFromString(license));
}

/** The license that a package names; null if it names none, or is not installed on this platform. */
function licenseOf({ key }: LockedPackage, root: string): string | null {
  const folders = (key.match(/(?:@[^/]+\/)?[^/]+/g) ?? []).flatMap((each) => ["node_modules", each]);
  const path = join(root, ...folders, "package.json");
  if (!existsSync(path)) return null;
  const license: unknown = JSON.parse(readFileSync(path, "utf8")).license;
  return typeof license === "string" && license !== "" ? license : null;
}
