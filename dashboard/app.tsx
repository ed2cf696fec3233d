import { Redirect, Route, Switch, useLocation } from "wouter";
import { CONSENT_PAGE } from "../src/contract/connector-consent.ts";
import { path } from "./api/path.ts";
import { useSignedIn } from "./api/signed-in.ts";
import { ErrorBoundary } from "./layout/error-boundary.tsx";
import { lazyPage } from "./layout/lazy-page.tsx";
import { NotFound } from "./layout/not-found.tsx";
import { ProjectShell } from "./layout/project-shell.tsx";
import { Shell } from "./layout/shell.tsx";
import { Failure } from "./parts/notice.tsx";

const SignIn = lazyPage(async () => (await import("./pages/sign-in/sign-in.tsx")).SignIn);
const SignUp = lazyPage(async () => (await import("./pages/sign-in/sign-up.tsx")).SignUp);
const Welcome = lazyPage(async () => (await import("./pages/sign-in/welcome.tsx")).Welcome);
const Authorize = lazyPage(async () => (await import("./pages/sign-in/authorize.tsx")).Authorize);
const Home = lazyPage(async () => (await import("./pages/home/home.tsx")).Home);
const NewProject = lazyPage(async () => (await import("./pages/projects/new-project.tsx")).NewProject);
const Account = lazyPage(async () => (await import("./pages/accounts/account.tsx")).Account);
const Usage = lazyPage(async () => (await import("./pages/usage/usage.tsx")).Usage);
const Settings = lazyPage(async () => (await import("./pages/settings/settings.tsx")).Settings);
const Server = lazyPage(async () => (await import("./pages/server/server.tsx")).Server);
const Secrets = lazyPage(async () => (await import("./pages/secrets/secrets.tsx")).Secrets);
const ProjectSettings = lazyPage(
  async () => (await import("./pages/project-settings/project-settings.tsx")).ProjectSettings,
);
const ConnectorCallback = lazyPage(
  async () => (await import("./pages/connectors/callback.tsx")).ConnectorCallback,
);
const Apps = lazyPage(async () => (await import("./pages/apps/list.tsx")).Apps);
const AppPage = lazyPage(async () => (await import("./pages/apps/app.tsx")).AppPage);
const Sessions = lazyPage(async () => (await import("./pages/sessions/list.tsx")).Sessions);
const NewSession = lazyPage(async () => (await import("./pages/sessions/new.tsx")).NewSession);
const SessionPage = lazyPage(async () => (await import("./pages/sessions/session.tsx")).SessionPage);
const TriesPage = lazyPage(async () => (await import("./pages/sessions/tries.tsx")).TriesPage);
const Triggers = lazyPage(async () => (await import("./pages/triggers/triggers.tsx")).Triggers);
const TriggerPage = lazyPage(async () => (await import("./pages/triggers/trigger.tsx")).TriggerPage);
const WebhookPage = lazyPage(async () => (await import("./pages/webhooks/webhook.tsx")).WebhookPage);
const ChangeRequests = lazyPage(
  async () => (await import("./pages/change-requests/change-requests.tsx")).ChangeRequests,
);
const NewChangeRequest = lazyPage(
  async () => (await import("./pages/change-requests/new.tsx")).NewChangeRequest,
);
const ChangeRequestPage = lazyPage(
  async () => (await import("./pages/change-requests/change-request.tsx")).ChangeRequestPage,
);

/** Public pages. All others require a signed-in user. */
const OPEN = /^\/(?:login|sign-up|welcome)$/;

/** The routes of the dashboard. The code of a page is loaded when the page is first opened. */
export function App() {
  const [address] = useLocation();
  return (
    <ErrorBoundary key={address}>
      {OPEN.test(address) ? (
        <Switch>
          <Route path="/login" component={SignIn} />
          <Route path="/sign-up" component={SignUp} />
          <Route path="/welcome" component={Welcome} />
        </Switch>
      ) : (
        <SignedInOnly>
          <Switch>
            <Route path="/cli/authorize" component={Authorize} />
            <Route component={Pages} />
          </Switch>
        </SignedInOnly>
      )}
    </ErrorBoundary>
  );
}

function Pages() {
  return (
    <Shell>
      <Switch>
        <Route path="/" component={Home} />
        <Route path="/new" component={NewProject} />
        <Route path="/settings" component={Settings} />
        <Route path="/server" component={Server} />
        <Route path="/accounts/:accountId/usage">
          {({ accountId }) => <Usage key={accountId} accountId={accountId} />}
        </Route>
        <Route path="/accounts/:accountId">
          {({ accountId }) => <Account key={accountId} accountId={accountId} />}
        </Route>
        <Route path={CONSENT_PAGE} component={ConnectorCallback} />
        <Route path="/projects/:projectId/*?">
          {({ projectId }) => <ProjectPages projectId={projectId} />}
        </Route>
        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}

function ProjectPages({ projectId }: { projectId: string }) {
  return (
    <ProjectShell projectId={projectId}>
      <Switch>
        <Route path="/projects/:projectId/secrets" component={Secrets} />
        <Route path="/projects/:projectId/settings" component={ProjectSettings} />
        <Route path="/projects/:projectId/webhooks/:webhookId" component={WebhookPage} />
        <Route path="/projects/:projectId/apps" component={Apps} />
        <Route path="/projects/:projectId/apps/:slug" component={AppPage} />
        <Route path="/projects/:projectId/triggers" component={Triggers} />
        <Route path="/projects/:projectId/triggers/:trigger" component={TriggerPage} />
        <Route path="/projects/:projectId/sessions" component={Sessions} />
        <Route path="/projects/:projectId/sessions/new" component={NewSession} />
        <Route path="/projects/:projectId/sessions/:sessionId" component={SessionPage} />
        <Route path="/projects/:projectId/tries/:triesId" component={TriesPage} />
        <Route path="/projects/:projectId/change-requests" component={ChangeRequests} />
        <Route path="/projects/:projectId/change-requests/new" component={NewChangeRequest} />
        <Route path="/projects/:projectId/change-requests/:cr" component={ChangeRequestPage} />
        <Route path="/projects/:projectId">
          <Redirect to={path`/projects/${projectId}/change-requests`} replace />
        </Route>
        <Route component={NotFound} />
      </Switch>
    </ProjectShell>
  );
}

/**
 * Redirects to the sign-in page, which redirects back. A page does not wait until the user is known: it loads its data
 * meanwhile, which a visitor who is not signed in does not get.
 */
function SignedInOnly({ children }: { children: React.ReactNode }) {
  const { data, error, refetch } = useSignedIn();
  const [address, go] = useLocation();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data || data.signed_in) return children;
  const here = `${address}${window.location.search}`;
  go(here === "/" ? "/login" : `/login?next=${encodeURIComponent(here)}`, { replace: true });
  return null;
}
