/** Lists of hosts that a manifest allows by a name, `preset:<name>`. docs/egress.md lists them. */
export const EGRESS_PRESETS = {
  /** Where package managers download from. */
  packages: [
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "nodejs.org",
    "pypi.org",
    "files.pythonhosted.org",
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "static.rust-lang.org",
    "proxy.golang.org",
    "sum.golang.org",
    "rubygems.org",
    "index.rubygems.org",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "services.gradle.org",
    "packagist.org",
    "repo.packagist.org",
    "deb.debian.org",
    "security.debian.org",
    "archive.ubuntu.com",
    "security.ubuntu.com",
    "dl-cdn.alpinelinux.org",
  ],
  /** GitHub: repositories, its API, releases and packages. */
  github: [
    "github.com",
    "api.github.com",
    "codeload.github.com",
    "raw.githubusercontent.com",
    "objects.githubusercontent.com",
    "release-assets.githubusercontent.com",
    "ghcr.io",
    "pkg-containers.githubusercontent.com",
  ],
} as const satisfies Record<string, readonly string[]>;

export type EgressPreset = keyof typeof EGRESS_PRESETS;

export function isPreset(name: string): name is EgressPreset {
  return Object.hasOwn(EGRESS_PRESETS, name);
}
