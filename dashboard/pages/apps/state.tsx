import type { App, Deployment } from "../../../src/contract/app.ts";
import { Badge, type BadgeLook } from "../../parts/badge.tsx";

const WORDS: Readonly<Record<App["state"], readonly [string, BadgeLook]>> = {
  waiting: ["Waiting", "neutral"],
  deploying: ["Deploying", "info"],
  live: ["Live", "ok"],
  down: ["Restarting", "warn"],
  failed: ["Failed", "danger"],
  stopped: ["Stopped", "neutral"],
  disabled: ["Disabled", "neutral"],
};

/** The state of an app and of its next deployment. */
export function AppState({ app: { state, next } }: { app: App }) {
  const [words, look] = WORDS[state];
  return (
    <>
      <Badge look={look}>{words}</Badge>
      {next && state !== "deploying" && (
        <Badge look="info">{`${DEPLOYMENT[next.state][0]} ${next.number}`}</Badge>
      )}
    </>
  );
}

const DEPLOYMENT: Readonly<Record<Deployment["state"], readonly [string, BadgeLook]>> = {
  building: ["Building", "info"],
  starting: ["Starting", "info"],
  live: ["Live", "ok"],
  retired: ["Replaced", "neutral"],
  failed: ["Failed", "danger"],
  stopped: ["Stopped", "neutral"],
};

export function DeploymentState({ state }: Pick<Deployment, "state">) {
  const [words, look] = DEPLOYMENT[state];
  return <Badge look={look}>{words}</Badge>;
}

/** Abbreviates a commit id. */
export function shortCommit(commit: string): string {
  return commit.slice(0, 10);
}
