import { field, parseJson, textField } from "../../../../src/contract/json.ts";
import { allOf, firstOf, LIBRARIES, type Stack, textOf } from "./stack.ts";
import { majorOf, minorOf } from "./versions.ts";

/** svc keeps what setup commands add in the home of the agent. */
const HOME = "/opt/svc/home";

export const go: Stack = {
  name: "Go",
  marks: ["go.mod"],
  reads: [],
  find(folder) {
    const text = textOf(folder, "go.mod");
    const [, version = null] = /^go (1\.(?:2[1-9]|[3-9]\d))/m.exec(text) ?? [];
    return {
      version,
      because: allOf(folder, "go.mod", "go.sum"),
      image: [
        `COPY --from=golang:${version ?? "1"}-bookworm /usr/local/go /usr/local/go`,
        `ENV PATH=/usr/local/go/bin:${HOME}/go/bin:$PATH`,
      ],
      setup: /^require\b/m.test(text) ? "go mod download" : null,
    };
  },
};

export const rust: Stack = {
  name: "Rust",
  marks: ["Cargo.toml"],
  reads: ["rust-toolchain", "rust-toolchain.toml"],
  find(folder) {
    const file = firstOf(folder, "rust-toolchain.toml", "rust-toolchain");
    const text = file === null ? "" : textOf(folder, file);
    const channel = (/^\s*channel\s*=\s*["']([^"']+)["']/m.exec(text)?.[1] ?? text).trim();
    const isChannel = /^[\w.-]{1,40}$/.test(channel);
    const lockfile = firstOf(folder, "Cargo.lock");
    return {
      version: isChannel ? channel : null,
      because: allOf(folder, "Cargo.toml", lockfile, file),
      image: [
        "COPY --from=rust:1-bookworm /usr/local/rustup /usr/local/rustup",
        "COPY --from=rust:1-bookworm /usr/local/cargo /usr/local/cargo",
        `ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=${HOME}/.cargo PATH=/usr/local/cargo/bin:$PATH`,
        ...(isChannel ? [`RUN rustup toolchain install ${channel}`] : []),
      ],
      setup: lockfile === null ? "cargo fetch" : "cargo fetch --locked",
    };
  },
};

export const ruby: Stack = {
  name: "Ruby",
  marks: ["Gemfile"],
  reads: [".ruby-version"],
  find(folder) {
    const pinned = minorOf(textOf(folder, ".ruby-version"));
    const [, named = ""] = /^\s*ruby ["']([^"']+)["']/m.exec(textOf(folder, "Gemfile")) ?? [];
    const version = pinned ?? minorOf(named);
    return {
      version,
      because: allOf(folder, "Gemfile", "Gemfile.lock", pinned && ".ruby-version"),
      image: [`COPY --from=ruby:${version ?? "3"}-bookworm /usr/local /usr/local`, LIBRARIES],
      // not in vendor/bundle, which many repositories do not ignore
      setup: 'bundle config set --global path "$HOME/.bundle/gems" && bundle install',
    };
  },
};

const JDK_NEWEST = "21";
const GRADLE = ["build.gradle", "build.gradle.kts"];

export const java: Stack = {
  name: "Java",
  marks: ["pom.xml", ...GRADLE],
  reads: [".java-version"],
  find(folder) {
    const pinned = majorOf(textOf(folder, ".java-version").replace(/^1\./, ""));
    const build = allOf(folder, "pom.xml", ...GRADLE)
      .map((name) => textOf(folder, name))
      .join("\n");
    const [, named] =
      /<(?:maven\.compiler\.release|java\.version)>(\d+)<|JavaLanguageVersion\.of\((\d+)\)/.exec(build) ?? [];
    const version = pinned ?? jdkFor(named);
    const isMaven = folder.files.has("pom.xml");
    const wrapper = firstOf(folder, isMaven ? "mvnw" : "gradlew");
    return {
      version,
      because: allOf(folder, "pom.xml", ...GRADLE, wrapper, pinned && ".java-version"),
      image: [
        `COPY --from=eclipse-temurin:${version ?? JDK_NEWEST}-jdk /opt/java/openjdk /opt/java/openjdk`,
        "ENV JAVA_HOME=/opt/java/openjdk PATH=/opt/java/openjdk/bin:$PATH",
        ...(wrapper === null ? (isMaven ? MAVEN : GRADLE_IMAGE) : []),
      ],
      setup: isMaven
        ? `${wrapper === null ? "mvn" : "sh mvnw"} --batch-mode dependency:go-offline`
        : `${wrapper === null ? "gradle" : "sh gradlew"} --no-daemon dependencies`,
    };
  },
};

const MAVEN = [
  "COPY --from=maven:3-eclipse-temurin-21 /usr/share/maven /usr/share/maven",
  "RUN ln -s /usr/share/maven/bin/mvn /usr/local/bin/mvn",
];
const GRADLE_IMAGE = [
  "COPY --from=gradle:8-jdk21 /opt/gradle /opt/gradle",
  "RUN ln -s /opt/gradle/bin/gradle /usr/local/bin/gradle",
];
/** Those with an image. */
const JDKS = ["8", "11", "17", "21", "25"];

/** The smallest JDK with an image that compiles for a version; null: the newest. */
function jdkFor(version: string | undefined): string | null {
  if (version === undefined) return null;
  return JDKS.find((jdk) => Number(jdk) >= Number(version)) ?? null;
}

export const php: Stack = {
  name: "PHP",
  marks: ["composer.json"],
  reads: [],
  find(folder) {
    const manifest = parseJson(textOf(folder, "composer.json"));
    const extensions = extensionsOf(field(manifest, "require"));
    return {
      version: null,
      because: allOf(folder, "composer.json", "composer.lock"),
      image: [
        // that of Debian 12, PHP 8.2: the image of PHP has libraries in many places
        `RUN apt-get update && apt-get install -y --no-install-recommends ${["php-cli", ...extensions].join(" ")} \\`,
        "  && rm -rf /var/lib/apt/lists/*",
        "COPY --from=composer:2 /usr/bin/composer /usr/local/bin/composer",
      ],
      setup: "composer install --no-interaction",
    };
  },
};

/** Extensions that many packages need. */
const COMMON = ["curl", "mbstring", "xml", "zip"];
/** Others that are packages of Debian, by their names in composer.json. */
const PACKAGED = [
  "bcmath",
  "gd",
  "gmp",
  "imap",
  "intl",
  "ldap",
  "mysql",
  "pgsql",
  "redis",
  "soap",
  "sqlite3",
];

function extensionsOf(required: unknown): string[] {
  const wanted = PACKAGED.filter((name) => textField(required, `ext-${name}`) !== "");
  const drivers = Object.entries({ pdo_mysql: "mysql", pdo_pgsql: "pgsql", pdo_sqlite: "sqlite3" })
    .filter(([name]) => textField(required, `ext-${name}`) !== "")
    .map(([, name]) => name);
  return [...new Set([...COMMON, ...wanted, ...drivers])].map((name) => `php-${name}`);
}
