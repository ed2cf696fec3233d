CREATE TYPE "public"."review_state" AS ENUM('approved', 'changes_requested');--> statement-breakpoint
ALTER TYPE "public"."notification_event" ADD VALUE 'cr.changes_requested';--> statement-breakpoint
CREATE TABLE "auto_merges" (
	"cr_id" uuid PRIMARY KEY NOT NULL,
	"head_sha" text NOT NULL,
	"method" "merge_method",
	"message" text,
	"delete_branch" boolean NOT NULL,
	"user_id" uuid NOT NULL,
	"token_id" uuid,
	"actor" jsonb,
	"created_at" timestamp with time zone NOT NULL,
	"off_reason" text,
	"failures" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "change_request_approvals" ADD COLUMN "state" "review_state" DEFAULT 'approved' NOT NULL;--> statement-breakpoint
ALTER TABLE "change_request_approvals" ADD COLUMN "body" text;--> statement-breakpoint
ALTER TABLE "change_requests" ADD COLUMN "draft" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "auto_merges" ADD CONSTRAINT "auto_merges_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auto_merges" ADD CONSTRAINT "auto_merges_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_approvals" ADD CONSTRAINT "change_request_approvals_request_has_text" CHECK (("change_request_approvals"."state" = 'changes_requested') = ("change_request_approvals"."body" is not null));