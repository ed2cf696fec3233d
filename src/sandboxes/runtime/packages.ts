import { RUNTIME_VERSION } from "../../contract/runtime.ts";

/** A package of the npm registry, with the expected size and digest of its tarball. */
export interface Package {
  name: string;
  version: string;
  /** Of the tarball. */
  bytes: number;
  /** In the format of npm lockfiles: `sha512-` and base64. */
  integrity: string;
}

/** The program, by system, processor and variant: https://www.npmjs.com/package/opencode-ai */
export const PROGRAMS: Readonly<Record<string, Package>> = {
  "linux-x64": program(
    "opencode-linux-x64",
    60275143,
    "sha512-q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==",
  ),
  "linux-x64-baseline": program(
    "opencode-linux-x64-baseline",
    60275131,
    "sha512-1KQGBiiDDeL/VHHbHkOvvFo8Jr97WT5+C1tear+p7IcDTnXgVHXqIjU4O4jM4mHQzykTP2i884FCnW5LDa+zCA==",
  ),
  "linux-x64-musl": program(
    "opencode-linux-x64-musl",
    62630713,
    "sha512-5HEFrYzg1N9hEYc/II7LlgGvHrsnMyVMk9U4ZW/hCKzZdrVFRAdEZ5pNV2Ud49xvOnwb2Zjp/ayLa1alxp+l4A==",
  ),
  "linux-x64-baseline-musl": program(
    "opencode-linux-x64-baseline-musl",
    62630704,
    "sha512-G/PAs06QCX3e7D/47I13bxzgTuH5mDqGVL7PSR/148DshvrZpLgzn3lBD5XoZoCf00yGA9N7J/RCPIAhaO/QoA==",
  ),
  "linux-arm64": program(
    "opencode-linux-arm64",
    60060899,
    "sha512-8aKOjIz6Cw3POGpvLvaByyMmfV2OCWgDdOBB9h7nqYV6rCGOzOsdQkT0OhjbAa5/JKGp28RSBEhDeMhINajs1g==",
  ),
  "darwin-arm64": program(
    "opencode-darwin-arm64",
    46045337,
    "sha512-rZm4Phz7eu/kVz2lynergU/LzKS/L0ofErB2fRXfaoAH528b3EnVcISZ/13dwk78FPxVhop7hWXshowT88C8Yw==",
  ),
  "darwin-x64": program(
    "opencode-darwin-x64",
    48221422,
    "sha512-2y+0nvT9SEJu4MFJbymDR0YPoJNILEZrvguG4/dvkJm1EAKE9dzwfXk9iBsiq7BI2V3dnXqcg95e5Si/MNflxw==",
  ),
};

function program(name: string, bytes: number, integrity: string): Package {
  return { name, version: RUNTIME_VERSION, bytes, integrity };
}

/**
 * The package that projects' own tools and plugins import, and its dependencies: without them, the runtime would download
 * them at its start. From the lockfile that npm writes for the first one.
 */
export const PLUGIN_PACKAGES: readonly Package[] = [
  {
    name: "@opencode-ai/plugin",
    version: RUNTIME_VERSION,
    bytes: 11985,
    integrity:
      "sha512-fmhqCBJvNt+Vfbx6ckKP19S3xwMBhUXLCBQaK92R4wnv3wsWTZYkJQwYf2egiWfJNOl47jhs3vP7uQkl0mvHQw==",
  },
  {
    name: "@ai-sdk/provider",
    version: "3.0.8",
    bytes: 76414,
    integrity:
      "sha512-oGMAgGoQdBXbZqNG0Ze56CHjDZ1IDYOwGYxYjO5KLSlz5HiNQ9udIXsPZ61VWaHGZ5XW/jyjmr6t2xz2jGVwbQ==",
  },
  {
    name: "@opencode-ai/sdk",
    version: RUNTIME_VERSION,
    bytes: 101053,
    integrity:
      "sha512-Nyurky9+AA2tvZ6my8UtO5pxPoXxrNypqjeEqMshBGiR542glOy+KE1Y+3lwWU+Z6HC/hSmrdXNbX81+qiuTzg==",
  },
  {
    name: "@standard-schema/spec",
    version: "1.1.0",
    bytes: 4178,
    integrity:
      "sha512-l2aFy5jALhniG5HgqrD6jXLi/rUWrKvqN/qJx6yoJsgKhblVd+iqqU4RCXavm/jPityDo5TCvKMnpjKnOriy0w==",
  },
  {
    name: "cross-spawn",
    version: "7.0.6",
    bytes: 6255,
    integrity:
      "sha512-uV2QOWP2nWzsy2aMp8aRibhi9dlzF5Hgh5SHaB9OiTGEyDTiJJyx0uy51QXdyWbtAHNua4XJzUKca3OzKUd3vA==",
  },
  {
    name: "effect",
    version: "4.0.0-beta.83",
    bytes: 8153160,
    integrity:
      "sha512-0wsak8RtgGAr9UWSbVDgJHZcUqMSvicHcvaZv1MbMM7MCGgW4Rn/137J1MHQbwYPcwYGxT/IqehFd+UbYuj78w==",
  },
  {
    name: "fast-check",
    version: "4.10.2",
    bytes: 335400,
    integrity:
      "sha512-iK2f+YrcmoeGqk6fA0ea2bptcu/itMIm4NfEozq6N25+aG6h7s5HZbB/k1aV7b5w5sFLMCbbtRUsTVR+BgC3xw==",
  },
  {
    name: "find-my-way-ts",
    version: "0.1.6",
    bytes: 30903,
    integrity:
      "sha512-a85L9ZoXtNAey3Y6Z+eBWW658kO/MwR7zIafkIUPUMf3isZG0NCs2pjW2wtjxAKuJPxMAsHUIP4ZPGv0o5gyTA==",
  },
  {
    name: "ini",
    version: "7.0.0",
    bytes: 4910,
    integrity:
      "sha512-ifK0CgjALofS5bkrcTy4RaQ9Vx2Knf/eLeIO+NaswQEpH1UblrtTSCIvN71qQDMq0PeQ/SSPojvEJp9vvvfr+w==",
  },
  {
    name: "isexe",
    version: "2.0.0",
    bytes: 3756,
    integrity:
      "sha512-RHxMLp9lnKHGHRng9QFhRCMbYAcVpn69smSGcq3f36xjgVVWThj4qqLbTLlq7Ssj8B+fIQ1EuCEGI2lKsyQeIw==",
  },
  {
    name: "json-schema",
    version: "0.4.0",
    bytes: 8942,
    integrity:
      "sha512-es94M3nTIfsEPisRafak+HDLfHXnKBhV3vU5eqPcS3flIWqcxJWgXHXiey3YrpaNsanY5ei1VoYEbOzijuq9BA==",
  },
  {
    name: "kubernetes-types",
    version: "1.30.0",
    bytes: 159130,
    integrity:
      "sha512-Dew1okvhM/SQcIa2rcgujNndZwU8VnSapDgdxlYoB84ZlpAD43U6KLAFqYo17ykSFGHNPrg0qry0bP+GJd9v7Q==",
  },
  {
    name: "msgpackr",
    version: "2.1.3",
    bytes: 494526,
    integrity:
      "sha512-C8pQ8SJjwH9C9JiCe5asXWvJC3melOxMuBj7vpTY95096ay6r1wPXG0XN56wMaRpzRPE3hdf4ufukia/j+beKQ==",
  },
  {
    name: "multipasta",
    version: "0.2.8",
    bytes: 29237,
    integrity:
      "sha512-ZPWuMKyv0cSO29f7hozp+k6+crZbQijV8ipMvxNxRf2SwtYGTX1ZX89Kd20VV4H9Znonx+EQn+iy1wGQsJ+b+Q==",
  },
  {
    name: "path-key",
    version: "3.1.1",
    bytes: 2258,
    integrity:
      "sha512-ojmeN0qd+y0jszEtoY48r0Peq5dwMEkIlCOu6Q5f41lfkswXuKtYrhgoTpLnyIcHm24Uhqx+5Tqm2InSwLhE6Q==",
  },
  {
    name: "pure-rand",
    version: "8.4.2",
    bytes: 15060,
    integrity:
      "sha512-vvuOGgcuPJAirlHvuQw1TrOiw7ptaIXXmIbNuiNOY6lNGJJH49PQ1Kj4nd783nPdQhQdicgOjVI2yI/9BD6/Ng==",
  },
  {
    name: "shebang-command",
    version: "2.0.0",
    bytes: 1506,
    integrity:
      "sha512-kHxr2zZpYtdmrN1qDjrrX/Z1rR1kG8Dx+gkpK1G4eXmvXswmcE1hTWBWYUzlraYw1/yZp6YuDY77YtvbN0dmDA==",
  },
  {
    name: "shebang-regex",
    version: "3.0.0",
    bytes: 1503,
    integrity:
      "sha512-7++dFhtcx3353uBaq8DDR4NuxBetBzC7ZQOhmTQInHEd6bSrXdiEyzCvG07Z44UYdLShWUyXt5M/yhz8ekcb1A==",
  },
  {
    name: "toml",
    version: "4.3.0",
    bytes: 18246,
    integrity:
      "sha512-lVb8X9BsPVuH0M4BKeS91tXAmJvCjQ5UIyAbQFaxkKGyUFK2RPkhwaFSQH8vbpl1d23eu/IBH+dwVMHWaq9A5A==",
  },
  {
    name: "uuid",
    version: "14.0.3",
    bytes: 14991,
    integrity:
      "sha512-Sc5u1VVln93y1Xnz4R+CunOZc7R9LUcTmhj7Rc7Eg3HVcf7rVn2FOoa812fe0W8p3jD7xeoGSYbfqCGGH2B6xw==",
  },
  {
    name: "which",
    version: "2.0.2",
    bytes: 4496,
    integrity:
      "sha512-BLI3Tl1TW3Pvl70l3yq3Y64i+awpwXqsGBYWkkqMtnbXgrMD+yj7rhW0kuEDxzJaYXGjEW5ogapKNMEKNMjibA==",
  },
  {
    name: "yaml",
    version: "2.9.1",
    bytes: 112114,
    integrity:
      "sha512-3NxN8+78OdzbT7C/WjGsyfPAtJaN3FNDsWxv7Y7mcDsT/oOmgW8BpyQQFFBnvZE3j9Y2Sdz1ULFLezL7Eb2yFw==",
  },
  {
    name: "zod",
    version: "4.1.8",
    bytes: 639838,
    integrity:
      "sha512-5R1P+WwQqmmMIEACyzSvo4JXHY5WiAFHRMg+zBZKgKS+Q1viRa0C1hmUKtHltoIFKtIdki3pRxkmpP74jnNYHQ==",
  },
];
