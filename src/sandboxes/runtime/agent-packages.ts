import type { Package } from "./packages.ts";

/** The versions of `@agentclientprotocol/claude-agent-acp`, which brings its own Claude Code, and of `codex-acp`. */
export const CLAUDE_VERSION = "0.101.0";
export const CODEX_VERSION = "0.16.0";

/** The agents' own programs, by system, processor and variant. Each maker's licence applies; svc contains none of them. */
export const AGENT_PROGRAMS: Readonly<Record<"claude-code" | "codex", Readonly<Record<string, Package>>>> = {
  "claude-code": {
    "linux-x64": {
      name: "@anthropic-ai/claude-agent-sdk-linux-x64",
      version: "0.3.318",
      bytes: 157335074,
      integrity:
        "sha512-+mE+ueBD3oRFdaG16rd0h+LMjdeivGxL0pr/+FZK7JeLWVu+yPSw/f/X02b9oK36/DWykiFTu2G6HnJ9/+YO6w==",
    },
    "linux-arm64": {
      name: "@anthropic-ai/claude-agent-sdk-linux-arm64",
      version: "0.3.318",
      bytes: 158364303,
      integrity:
        "sha512-mBm4su17aMitLBBCQj3bHdejyUDY6z/ormGih+HG24N689RSbdKECjGjkT87tDBIR/4jyoqmuSeHqM1DI8TJlg==",
    },
    "linux-x64-musl": {
      name: "@anthropic-ai/claude-agent-sdk-linux-x64-musl",
      version: "0.3.318",
      bytes: 149528284,
      integrity:
        "sha512-SAF3lj/2OzTU84p+OOA13QEKA9+5fYAw0M9E7AJjdnRmVFGqQfbV7Do1i1f9Sj0mIubB3rLTRphGRw8O4HZjgA==",
    },
    "linux-arm64-musl": {
      name: "@anthropic-ai/claude-agent-sdk-linux-arm64-musl",
      version: "0.3.318",
      bytes: 149875839,
      integrity:
        "sha512-l4LSYFOrvlYCrUImGfxMTQ0wg+T3s9CBhrBvPF/0oJGKZg+QnxHHU8jUVm9e9/xYmDRTtqFIrr4id/5AfH4XGw==",
    },
    "darwin-x64": {
      name: "@anthropic-ai/claude-agent-sdk-darwin-x64",
      version: "0.3.318",
      bytes: 152174933,
      integrity:
        "sha512-6CkZ5PCdebSY/LePp16sf/HYRtM6zVuxtn8qYICFS5KUZFsjccJJ9swVsOdHXNHi4SWZcSmIFTwoUbfFCzisRw==",
    },
    "darwin-arm64": {
      name: "@anthropic-ai/claude-agent-sdk-darwin-arm64",
      version: "0.3.318",
      bytes: 145803517,
      integrity:
        "sha512-AWoXeDXzAMD3RaA21lWuHvCrKd8xmbTTmKjovninn4j07jheoVSMzFbCFjpp4kk5TdhT36JtWPkAxvjNMbcO8w==",
    },
  },
  codex: {
    "linux-x64": {
      name: "@zed-industries/codex-acp-linux-x64",
      version: "0.16.0",
      bytes: 74914872,
      integrity:
        "sha512-xs5zZBLpJuciEbZNx6ZSNL0qCa9h3i/zWpj40sp6QtF+L4Ow/7qzHdBzboGhHdcz1jrLedfZeRFDA2Elj8TLMA==",
    },
    "linux-arm64": {
      name: "@zed-industries/codex-acp-linux-arm64",
      version: "0.16.0",
      bytes: 76081936,
      integrity:
        "sha512-8HaZGWVPVs1N6yqImLCKlnlcYTYc9BMCEhaVJk0ON9lyofhK9mOBBAHQndKC4Scqq5JLUHQIOyb8+jwHUe3hSQ==",
    },
    "darwin-x64": {
      name: "@zed-industries/codex-acp-darwin-x64",
      version: "0.16.0",
      bytes: 71006079,
      integrity:
        "sha512-QCWggk0s4GTPLCR7eznyx29Dls4gzUKvp4MjZ4nzPX5gDL/02PGY+oCV1WsQOsnzWRK0RxM+GlK19rG1qzqplw==",
    },
    "darwin-arm64": {
      name: "@zed-industries/codex-acp-darwin-arm64",
      version: "0.16.0",
      bytes: 67450696,
      integrity:
        "sha512-2AmbWsc/+Mpn6U8UOIlPLvgwGsGOr/LFpgcvrnjcCT9V1yY92MLrqzjMX82+VjTrRLRuXvc25SB5Z1++4Pw29g==",
    },
  },
};

/** The adapter of Claude Code, and what it imports. */
export const CLAUDE_PACKAGES: readonly Package[] = [
  {
    name: "@agentclientprotocol/claude-agent-acp",
    version: "0.101.0",
    bytes: 609433,
    integrity:
      "sha512-c9YGBfdJrLcKiinRpXuDuibC+CRGqQpe9+ey/+TuuZ7ejHlVyEELbbvRkxHZN+Hf5XGecJD5i0kvP2opCseATA==",
  },
  {
    name: "@agentclientprotocol/sdk",
    version: "2.4.0",
    bytes: 809820,
    integrity:
      "sha512-7qJ8nnyj7WesC5ve185ioTpB2/svQoeGV4HA4nLEhgDUrcmBe54/08VcXc/oL4p14tDbxxECZzdYmUYQ+4l+Wg==",
  },
  {
    name: "@anthropic-ai/claude-agent-sdk",
    version: "0.3.318",
    bytes: 1475971,
    integrity:
      "sha512-z5WHCUeW52SKQ3rnvI3zt8X5h2QQ5o3Cgg5xarO5Rimfe67f3pOJt2aOh00S8t/nRzqfs+8nCb9o1EoXe+yccA==",
  },
  {
    name: "zod",
    version: "4.6.7",
    bytes: 1141941,
    integrity:
      "sha512-g8W2D2kU6a8untc053fX1uVBKzM7yqAxW/3zwk83+6RyF2+SKOuV+c0wBDhUwzV1PaGapmZH+rmcUzPf+3CGwg==",
  },
  {
    name: "diff",
    version: "9.0.0",
    bytes: 152500,
    integrity:
      "sha512-svtcdpS8CgJyqAjEQIXdb3OjhFVVYjzGAPO8WGCmRbrml64SPw/jJD4GoE98aR7r25A0XcgrK3F02yw9R/vhQw==",
  },
];
