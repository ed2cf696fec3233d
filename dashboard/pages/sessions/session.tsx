import { useState } from "react";
import { useParams, useSearch } from "wouter";
import type { Session } from "../../../src/contract/session.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { lazyPage } from "../../layout/lazy-page.tsx";
import { Badge } from "../../parts/badge.tsx";
import { LinkButton } from "../../parts/button.tsx";
import { Later } from "../../parts/later.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Tab } from "../../parts/tab.tsx";
import { visibleText } from "../../parts/visible.tsx";
import { useWide } from "../../parts/wide.ts";
import { ActionDialog, Actions, type Doing } from "./actions.tsx";
import { Asks } from "./asks.tsx";
import { Blocked } from "./blocked.tsx";
import { Boot } from "./boot.tsx";
import { Conversation } from "./chat/conversation.tsx";
import { useChat } from "./chat/use-chat.ts";
import { Details } from "./details.tsx";
import { type FollowedSession, useFollowSession } from "./follow-session.ts";
import { Log } from "./log.tsx";
import { PromptList } from "./prompt-list.tsx";
import { Refusals } from "./refusals.tsx";
import { Saved } from "./saved.tsx";
import { SetupProblem } from "./setup-problem.tsx";
import { StatusBadge } from "./status-badge.tsx";
import { isBusy, titleOf } from "./words.ts";

/** A session, updated live. */
export function SessionPage() {
  const project = useProject();
  const { sessionId = "" } = useParams();
  const followed = useFollowSession(project.project_id, sessionId);
  if (followed.isDeleted) {
    return (
      <Page title="The session was deleted">
        <p className="mb-4">Its branch still exists.</p>
        <LinkButton to={path`/projects/${project.slug}/sessions`}>All sessions</LinkButton>
      </Page>
    );
  }
  if (followed.session) return <Live session={followed.session} followed={followed} slug={project.slug} />;
  if (followed.error) {
    return (
      <Page title="Session">
        <Failure error={followed.error} retry={followed.retry} />
      </Page>
    );
  }
  return <Loading what="Loading the session" />;
}

const VIEWS = [
  ["", "Conversation"],
  ["files", "Files"],
  ["log", "Log"],
  ["saved", "Saved work"],
  ["prompts", "Prompts"],
  ["terminal", "Terminal"],
] as const;

const Files = lazyPage(async () => (await import("./files/files.tsx")).Files);
const Terminal = lazyPage(async () => (await import("./terminal/terminal.tsx")).Terminal);

function Live({ session, followed, slug }: { session: Session; followed: FollowedSession; slug: string }) {
  const [doing, setDoing] = useState<Doing>(null);
  const view = new URLSearchParams(useSearch()).get("view") ?? "";
  const { chat, state } = useChat(session);
  const isWide = useWide();
  // its shell stays while other views are shown
  const [hasTerminal, setHasTerminal] = useState(view === "terminal");
  if (view === "terminal" && !hasTerminal) setHasTerminal(true);
  return (
    <Page
      title={titleOf(session)}
      badge={<StatusBadge session={session} />}
      actions={<Actions session={session} onDo={setDoing} />}
    >
      {followed.error !== null && <Failure error={followed.error} retry={followed.retry} />}
      {followed.isLost && (
        <div className="mb-3">
          <Notice kind="warning">The server does not answer. This page continues as soon as it does.</Notice>
        </div>
      )}
      <div className="grid gap-x-8 gap-y-4 lg:grid-cols-[minmax(0,1fr)_17rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <Views session={session} view={view} slug={slug} />
          <Asks session={session} />
          {view === "" && <Boot session={session} log={followed.log} onRestart={() => setDoing("restart")} />}
          {view === "" && <Blocked session={session} />}
          {view === "" && <SetupProblem session={session} />}
          {view === "" && <Refusals session={session} />}
          {view === "" && <Conversation session={session} chat={chat} state={state} />}
          {view === "files" && <Files session={session} turns={state.turns} />}
          {view === "log" && <Log log={followed.log} sessionId={session.session_id} />}
          {view === "saved" && <Saved session={session} />}
          {view === "prompts" && <PromptList session={session} />}
          {hasTerminal && (
            <div hidden={view !== "terminal"}>
              <Terminal session={session} />
            </div>
          )}
        </div>
        <aside aria-label="About the session" className="order-first lg:order-none">
          {isWide ? (
            <div className="sticky top-4">
              <Later>
                <Details session={session} slug={slug} ports={followed.ports} />
              </Later>
            </div>
          ) : (
            <details className="rounded-lg border border-line bg-surface px-4 py-2">
              <summary className="font-medium">About the session</summary>
              <div className="py-3">
                <Later>
                  <Details session={session} slug={slug} ports={followed.ports} />
                </Later>
              </div>
            </details>
          )}
        </aside>
      </div>
      <p aria-live="polite" className="sr-only">
        {visibleText(state.announced)}
      </p>
      <ActionDialog
        session={session}
        slug={slug}
        doing={doing}
        isBusy={isBusy(session)}
        onClose={() => setDoing(null)}
      />
    </Page>
  );
}

function Views({ session, view, slug }: { session: Session; view: string; slug: string }) {
  const own = path`/projects/${slug}/sessions/${session.session_id}`;
  return (
    <nav aria-label="Session">
      <ul className="flex gap-1 overflow-x-auto border-line border-b">
        {VIEWS.map(([name, title]) => (
          <Tab key={name} to={name === "" ? own : `${own}?view=${name}`} isHere={view === name}>
            {title}
            {name === "saved" && session.saved && !session.saved.live && (
              <Badge look="warn">not pushed</Badge>
            )}
          </Tab>
        ))}
      </ul>
    </nav>
  );
}
