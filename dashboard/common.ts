/**
 * What several pages use. The bundler writes a file for each set of pages that share a module; these modules are in the main
 * file instead, so that a page waits for few requests.
 */
import "./api/branches.ts";
import "./api/inbox.ts";
import "./api/list.ts";
import "./api/members.ts";
import "./api/release.ts";
import "./layout/entrance.tsx";
import "./pages/apps/state.tsx";
import "./pages/change-requests/label-chip.tsx";
import "./pages/change-requests/state-badge.tsx";
import "./pages/sessions/status-badge.tsx";
import "./pages/sessions/words.ts";
import "./pages/sign-in/next.ts";
import "./parts/author-name.tsx";
import "./parts/badge.tsx";
import "./parts/choice.tsx";
import "./parts/confirm.tsx";
import "./parts/cost.ts";
import "./parts/count.ts";
import "./parts/dialog.tsx";
import "./parts/focused-row.ts";
import "./parts/form.tsx";
import "./parts/manifest-problems.tsx";
import "./parts/more.tsx";
import "./parts/row-keys.ts";
import "./parts/scroll-box.tsx";
import "./parts/secret-text.tsx";
import "./parts/section.tsx";
import "./parts/segments.tsx";
import "./parts/shown-once.tsx";
import "./parts/virtual-blocks.ts";
