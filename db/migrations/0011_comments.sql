CREATE TYPE "public"."diff_side" AS ENUM('old', 'new');--> statement-breakpoint
CREATE TABLE "change_request_comments" (
	"comment_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"cr_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"reply_to" uuid,
	"body" text NOT NULL,
	"path" text,
	"line" integer,
	"side" "diff_side",
	"quote" text,
	"head_commit_sha" text,
	"created_by" uuid NOT NULL,
	"by_agent" boolean NOT NULL,
	"session_id" text,
	"resolved_at" timestamp with time zone,
	"resolved_by" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "change_request_comments_anchor" CHECK (("change_request_comments"."line" is null) = ("change_request_comments"."side" is null) and ("change_request_comments"."line" is null or "change_request_comments"."path" is not null)),
	CONSTRAINT "change_request_comments_thread" CHECK ("change_request_comments"."reply_to" is null or ("change_request_comments"."resolved_at" is null and "change_request_comments"."path" is null))
);
--> statement-breakpoint
ALTER TABLE "change_requests" ADD COLUMN "opened_by_agent" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "change_requests" ADD COLUMN "last_comment_number" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD CONSTRAINT "change_request_comments_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD CONSTRAINT "change_request_comments_reply_to_change_request_comments_comment_id_fk" FOREIGN KEY ("reply_to") REFERENCES "public"."change_request_comments"("comment_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD CONSTRAINT "change_request_comments_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD CONSTRAINT "change_request_comments_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD CONSTRAINT "change_request_comments_resolved_by_users_user_id_fk" FOREIGN KEY ("resolved_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "change_request_comments_number" ON "change_request_comments" USING btree ("cr_id","number");--> statement-breakpoint
CREATE INDEX "change_request_comments_reply_to" ON "change_request_comments" USING btree ("reply_to");--> statement-breakpoint
CREATE INDEX "change_request_comments_session_id" ON "change_request_comments" USING btree ("session_id");