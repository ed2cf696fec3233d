CREATE TYPE "public"."timeline_event" AS ENUM('opened', 'pushed', 'head_ref_force_pushed', 'base_ref_changed', 'automatic_base_change_succeeded', 'renamed', 'convert_to_draft', 'ready_for_review', 'reviewed', 'review_dismissed', 'review_requested', 'review_request_removed', 'assigned', 'unassigned', 'labeled', 'unlabeled', 'checks_completed', 'auto_merge_enabled', 'auto_merge_disabled', 'added_to_merge_queue', 'removed_from_merge_queue', 'suggestion_applied', 'closed', 'reopened', 'merged', 'head_ref_deleted', 'reverted');--> statement-breakpoint
CREATE TABLE "branch_pushes" (
	"project_id" uuid NOT NULL,
	"branch" text NOT NULL,
	"commit_sha" text NOT NULL,
	"user_id" uuid NOT NULL,
	"actor" jsonb,
	CONSTRAINT "branch_pushes_project_id_branch_pk" PRIMARY KEY("project_id","branch")
);
--> statement-breakpoint
CREATE TABLE "change_request_events" (
	"event_id" bigserial PRIMARY KEY NOT NULL,
	"cr_id" uuid NOT NULL,
	"event" timeline_event NOT NULL,
	"user_id" uuid,
	"actor" jsonb,
	"data" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "branch_pushes" ADD CONSTRAINT "branch_pushes_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "branch_pushes" ADD CONSTRAINT "branch_pushes_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_events" ADD CONSTRAINT "change_request_events_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_events" ADD CONSTRAINT "change_request_events_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "change_request_events_cr_id" ON "change_request_events" USING btree ("cr_id","event_id");--> statement-breakpoint
INSERT INTO "change_request_events" ("cr_id", "event", "user_id", "actor", "data", "created_at")
SELECT "cr_id", "event"::"timeline_event", "user_id", "actor", jsonb_strip_nulls("data"), "at" FROM (
	SELECT "cr_id", 1 AS "place", 'opened' AS "event", "created_by" AS "user_id",
		coalesce("created_actor", CASE WHEN "opened_by_agent" THEN jsonb_build_object('kind', 'agent', 'sessionId', coalesce(to_jsonb("origin_session_id"), 'null')) END) AS "actor",
		jsonb_build_object('from', "head_ref", 'to', "base_ref", 'number', "reverts") AS "data", "created_at" AS "at"
	FROM "change_requests"
	UNION ALL SELECT "head"."cr_id", 2, 'pushed', NULL, NULL,
		jsonb_build_object('from', "earlier"."commit_sha", 'to', "head"."commit_sha", 'head', "head"."number"), "head"."seen_at"
	FROM "change_request_heads" "head" JOIN "change_request_heads" "earlier"
		ON "earlier"."cr_id" = "head"."cr_id" AND "earlier"."number" = "head"."number" - 1
	UNION ALL SELECT "cr_id", 3, 'reviewed', "user_id", NULL,
		jsonb_build_object('state', "state", 'commit_sha', "head_commit_sha", 'body', "body"), "created_at"
	FROM "change_request_approvals"
	UNION ALL SELECT "cr_id", 4, 'closed', "closed_by", "closed_actor", '{}', "closed_at"
	FROM "change_requests" WHERE "closed_at" IS NOT NULL
	UNION ALL SELECT "cr_id", 5, 'merged', "merged_by", "merged_actor",
		jsonb_build_object('commit_sha', "merge_commit_sha", 'method', "merge_method"), "merged_at"
	FROM "change_requests" WHERE "merged_at" IS NOT NULL
) AS "past" ORDER BY "at", "place", ("data"->>'head')::integer;
