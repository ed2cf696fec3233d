import { useMe } from "../../api/accounts.ts";
import { path } from "../../api/path.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { LinkButton } from "../../parts/button.tsx";
import { Page } from "../../parts/page.tsx";
import { Section } from "../../parts/section.tsx";
import { ThemeChoice } from "../../parts/theme-choice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { ROLE_NAMES } from "../accounts/roles.ts";
import { Tokens } from "../tokens/tokens.tsx";
import { CommandLine } from "./command-line.tsx";
import { Notifications } from "./notifications.tsx";
import { OwnSecrets } from "./own-secrets.tsx";
import { Password } from "./password.tsx";
import { SignIns } from "./sign-ins.tsx";
import { SigningKeys } from "./signing-keys.tsx";

/** The settings of the signed-in user: profile, tokens, secrets, password, appearance. */
export function Settings() {
  return (
    <Page title="Settings">
      <div className="max-w-5xl">
        <Profile />
        <CommandLine />
        <Tokens
          title="Tokens"
          about="Each acts as you, in all of your projects. Use one per machine or script, so that you can revoke them separately. svc login also creates one."
          queryKey={["tokens"]}
          at="/accounts/tokens"
          areMine
        />
        <OwnSecrets />
        <SigningKeys />
        <Notifications />
        <Password />
        <SignIns />
        <Section title="Appearance">
          <div className="max-w-xs">
            <ThemeChoice />
          </div>
        </Section>
      </div>
    </Page>
  );
}

function Profile() {
  const { data } = useSignedIn();
  const { data: me } = useMe();
  return (
    <Section title="Profile">
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[8rem_1fr]">
        <dt className="text-muted">Name</dt>
        <dd>
          <Visible>{data?.user?.name ?? ""}</Visible>
        </dd>
        <dt className="text-muted">E-mail</dt>
        <dd>
          <Visible>{data?.user?.email ?? ""}</Visible>
        </dd>
        <dt className="text-muted">Accounts</dt>
        <dd>
          <ul className="flex flex-wrap gap-2">
            {me?.accounts.map(({ account_id, name, role }) => (
              <li key={account_id}>
                <LinkButton to={path`/accounts/${account_id}`}>
                  <Visible>{name}</Visible>
                  <span className="font-normal text-muted text-sm">{ROLE_NAMES[role]}</span>
                </LinkButton>
              </li>
            ))}
          </ul>
        </dd>
      </dl>
    </Section>
  );
}
