CREATE TYPE "public"."firing_source" AS ENUM('cron', 'webhook', 'manual');--> statement-breakpoint
CREATE TYPE "public"."firing_state" AS ENUM('waiting', 'fired', 'failed', 'skipped', 'missed');--> statement-breakpoint
CREATE TYPE "public"."trigger_type" AS ENUM('cron', 'webhook');--> statement-breakpoint
CREATE TABLE "trigger_firings" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"firing_id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"trigger_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"key" text NOT NULL,
	"source" "firing_source" NOT NULL,
	"state" "firing_state" NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"due_until" timestamp with time zone,
	"session_id" uuid,
	"created_by" uuid,
	"prompt" text,
	"error" text,
	"created_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "triggers" (
	"trigger_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"project_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"position" integer NOT NULL,
	"type" "trigger_type" NOT NULL,
	"name" text,
	"agent" text,
	"prompt" text NOT NULL,
	"enabled" boolean NOT NULL,
	"cron" text,
	"timezone" text NOT NULL,
	"secret_env" text,
	"next_fire_at" timestamp with time zone,
	"last_fired_at" timestamp with time zone,
	"last_error" text,
	"problem" text
);
--> statement-breakpoint
ALTER TABLE "trigger_firings" ADD CONSTRAINT "trigger_firings_trigger_id_triggers_trigger_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("trigger_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trigger_firings" ADD CONSTRAINT "trigger_firings_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trigger_firings" ADD CONSTRAINT "trigger_firings_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trigger_firings" ADD CONSTRAINT "trigger_firings_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "trigger_firings_trigger_key" ON "trigger_firings" USING btree ("trigger_id","key");--> statement-breakpoint
CREATE INDEX "trigger_firings_trigger_seq" ON "trigger_firings" USING btree ("trigger_id","seq");--> statement-breakpoint
CREATE INDEX "trigger_firings_waiting" ON "trigger_firings" USING btree ("account_id","seq") WHERE "trigger_firings"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "trigger_firings_waiting_project" ON "trigger_firings" USING btree ("project_id") WHERE "trigger_firings"."state" = 'waiting';--> statement-breakpoint
CREATE UNIQUE INDEX "triggers_project_slug" ON "triggers" USING btree ("project_id","slug");--> statement-breakpoint
CREATE INDEX "triggers_next_fire_at" ON "triggers" USING btree ("next_fire_at");