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
ALTER TABLE "auto_merges" ADD CONSTRAINT "auto_merges_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auto_merges" ADD CONSTRAINT "auto_merges_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;