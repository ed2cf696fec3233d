CREATE TYPE "public"."notification_event" AS ENUM('session.waiting', 'session.done', 'cr.opened', 'check.failed', 'cr.commented', 'cr.approved');--> statement-breakpoint
CREATE TYPE "public"."notification_way" AS ENUM('page', 'push', 'email');--> statement-breakpoint
CREATE TABLE "notification_choices" (
	"user_id" uuid NOT NULL,
	"event" "notification_event" NOT NULL,
	"ways" "notification_way"[] NOT NULL,
	CONSTRAINT "notification_choices_user_id_event_pk" PRIMARY KEY("user_id","event")
);
--> statement-breakpoint
CREATE TABLE "notification_deliveries" (
	"delivery_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"notification_id" uuid NOT NULL,
	"browser_id" uuid,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notifications" (
	"notification_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"seq" bigserial NOT NULL,
	"user_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"event" "notification_event" NOT NULL,
	"key" text NOT NULL,
	"session_id" text,
	"cr_number" integer,
	"title" text NOT NULL,
	"text" text NOT NULL,
	"is_on_page" boolean NOT NULL,
	"read_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "notifications_once" UNIQUE("user_id","event","key")
);
--> statement-breakpoint
CREATE TABLE "push_browsers" (
	"browser_id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"endpoint_hash" text NOT NULL,
	"subscription" text NOT NULL,
	"name" text NOT NULL,
	"delivered_at" timestamp with time zone,
	"error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "push_browsers_endpoint_hash_unique" UNIQUE("endpoint_hash")
);
--> statement-breakpoint
ALTER TABLE "notification_choices" ADD CONSTRAINT "notification_choices_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_deliveries" ADD CONSTRAINT "notification_deliveries_notification_id_notifications_notification_id_fk" FOREIGN KEY ("notification_id") REFERENCES "public"."notifications"("notification_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification_deliveries" ADD CONSTRAINT "notification_deliveries_browser_id_push_browsers_browser_id_fk" FOREIGN KEY ("browser_id") REFERENCES "public"."push_browsers"("browser_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "push_browsers" ADD CONSTRAINT "push_browsers_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "notification_deliveries_due_at" ON "notification_deliveries" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "notification_deliveries_notification_id" ON "notification_deliveries" USING btree ("notification_id");--> statement-breakpoint
CREATE INDEX "notification_deliveries_browser_id" ON "notification_deliveries" USING btree ("browser_id");--> statement-breakpoint
CREATE INDEX "notifications_user_id_seq" ON "notifications" USING btree ("user_id","seq");--> statement-breakpoint
CREATE INDEX "notifications_of_session" ON "notifications" USING btree ("session_id") WHERE "notifications"."read_at" is null;--> statement-breakpoint
CREATE INDEX "push_browsers_user_id" ON "push_browsers" USING btree ("user_id");