/** Limits that the server enforces. Clients may check them early. */

/** A change request's title, in characters: one line in every list. */
export const TITLE_MAX = 256;
/** A search for change requests, in characters, and its words and qualifiers: more than a person types. */
export const SEARCH_MAX = 256;
export const SEARCH_TERMS_MAX = 20;
/** A change request's description and a merge message, in bytes of UTF-8. */
export const DESCRIPTION_MAX_BYTES = 64 * 1024;
/** A comment on a change request, in bytes of UTF-8. */
export const COMMENT_MAX_BYTES = 64 * 1024;
/** The text of a request for changes, in bytes of UTF-8: a list of change requests shows those of all reviewers. */
export const REVIEW_MAX_BYTES = 16 * 1024;
/** Comments that one review adds. */
export const REVIEW_COMMENTS_MAX = 100;
/** Suggestions that one commit applies: each reads its file at two commits, in one request. */
export const SUGGESTIONS_MAX = 50;
/** Comments on one change request, including deleted ones. */
export const COMMENTS_MAX = 10_000;
/** The title that svc gives a session, in characters: it fits in a list. */
export const SESSION_TITLE_MAX = 72;
/** A change request's metadata, in bytes of its JSON. */
export const METADATA_MAX_BYTES = 16 * 1024;
/** A JSON request body, in bytes. Does not apply to git routes. */
export const BODY_MAX_BYTES = 1024 * 1024;
/** A label's name, as GitHub limits it, and its description, in characters. */
export const LABEL_NAME_MAX = 50;
export const LABEL_DESCRIPTION_MAX = 100;
/** Labels of a project: all are listed at once. */
export const LABELS_MAX = 200;
/** Labels of one change request, as GitHub limits them. */
export const CR_LABELS_MAX = 100;
/** Assignees and requested reviewers of one change request, as GitHub limits them. */
export const ASSIGNEES_MAX = 10;
export const REVIEWERS_MAX = 15;
/** Page sizes of every list. */
export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 200;
/** The patch of a JSON diff ends at a file boundary past either of these; `Accept: text/x-diff` has no limit. */
export const DIFF_MAX_BYTES = 5 * 1024 * 1024;
export const DIFF_MAX_LINES = 20_000;
/** A JSON diff's file list ends here, with `truncated: true`. */
export const DIFF_MAX_FILES = 100_000;
/** The name of a check, in characters, as GitHub limits it: on one line, not blank. */
export const CONTEXT_MAX = 255;
export const CONTEXT_PATTERN = "^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$";
/** Names of projects, tokens and hosts, in characters. */
export const NAME_MAX = 128;
/** A `repo_url`, in characters. */
export const REPO_URL_MAX = 2048;
/** A branch name, in bytes of UTF-8: the limit of a loose ref's file name on common file systems. */
export const REF_MAX_BYTES = 244;
/** Conflicting paths that a merge preview lists. */
export const CONFLICTS_MAX = 10_000;
/** Commits that a rebase replays: about two seconds of work. GitHub rebases at most 100. */
export const REBASE_COMMITS_MAX = 250;
/** A commit's message in a list, in bytes: a list holds up to 200 of them. */
export const COMMIT_MESSAGE_MAX_BYTES = 16 * 1024;
/** A commit's author or committer, in characters. */
export const COMMIT_NAME_MAX = 256;
/** A file's content as JSON, in bytes; longer files are cut, and complete with `Accept: application/octet-stream`. */
export const CONTENT_MAX_BYTES = 1024 * 1024;
/** The largest file that can be downloaded, in bytes. Clone the repository for larger ones. */
export const FILE_MAX_BYTES = 100 * 1024 * 1024;
/** Entries of a folder of a workspace, and its changed files, in one answer: more than a person reads. The rest is counted. */
export const FOLDER_ENTRIES_MAX = 2_000;
export const CHANGED_FILES_MAX = 2_000;
/** A larger file is not in the patch of a workspace, in bytes: git would read it into the memory of the sandbox. */
export const PATCHED_FILE_MAX_BYTES = 32 * 1024 * 1024;
/** A path in a repository, in bytes: the limit of common file systems. */
export const PATH_MAX_BYTES = 4096;

/** A reasoning effort: a word of the model's maker. */
export const EFFORT_MAX = 32;
export const EFFORT_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_-]*$";
/** A prompt, in bytes of UTF-8: a session's first prompt must fit into an environment variable. */
export const PROMPT_MAX_BYTES = 64 * 1024;
/** Sessions that try one task: as many as a person compares. */
export const TRIES_MAX = 5;
/** Files attached to one prompt, and their bytes together: in base64 they fit into one event of the agent runtime. */
export const ATTACHMENTS_MAX = 5;
export const ATTACHMENTS_MAX_BYTES = 3 * 1024 * 1024;
/** The name of an attached file, in characters. */
export const FILE_NAME_MAX = 200;
/** The JSON of a prompt with its attachments in base64, in bytes. */
export const PROMPT_BODY_MAX_BYTES = 5 * 1024 * 1024;
/** A text of a stored conversation, in characters (UTF-16); a longer one is cut. */
export const PART_TEXT_MAX = 256 * 1024;
/** A session's stored conversation, in bytes; of what comes later, only its kind and time are stored. */
export const CONVERSATION_MAX_BYTES = 64 * 1024 * 1024;
/** An agent's own record of a conversation, compressed, in bytes: hours of work. Of a larger one, none is kept. */
export const AGENT_RECORD_MAX_BYTES = 8 * 1024 * 1024;
/** The JSON of an agent's record in base64, in bytes. */
export const AGENT_RECORD_BODY_MAX_BYTES = 11 * 1024 * 1024;
/** A secret's value, in bytes of UTF-8: an environment can hold many values of this size. */
export const SECRET_MAX_BYTES = 64 * 1024;

/** NIST SP 800-63B: at least 8 characters, no rules of composition; the upper bound keeps hashing cheap. */
export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 256;
/** Seconds: how far back a stream of events can start. A page that takes longer to load is reloaded. */
export const RECENT_MAX_S = 600;
