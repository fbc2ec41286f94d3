import Stripe from "stripe";

/** https://github.com/stripe/stripe-node#readme, and https://docs.stripe.com/webhooks with the provider for Workers */
export async function stripe(at: string) {
  const url = new URL(at);
  const stripe = new Stripe("sk_test_123", { httpClient: Stripe.createFetchHttpClient(), host: url.hostname, port: url.port, protocol: "http", telemetry: false, maxNetworkRetries: 1 });
  const customer = await stripe.customers.create({ email: "jane@example.com", metadata: { club: "river & sea" }, preferred_locales: ["de", "en"] }, { idempotencyKey: "k1" });
  const names: string[] = [];
  for await (const one of stripe.customers.list({ limit: 2 })) names.push(one.id);
  let declined = "";
  try {
    await stripe.paymentIntents.create({ amount: 100, currency: "eur" });
  } catch (error) {
    declined = `${(error as Stripe.errors.StripeError).type} ${(error as Stripe.errors.StripeError).code} ${(error as Error).message}`;
  }
  const payload = JSON.stringify({ id: "evt_1", object: "event", type: "customer.created" }), crypto = Stripe.createSubtleCryptoProvider();
  const header = await stripe.webhooks.generateTestHeaderStringAsync({ payload, secret: "whsec_test", cryptoProvider: crypto });
  const event = await stripe.webhooks.constructEventAsync(payload, header, "whsec_test", undefined, crypto);
  const forged = await stripe.webhooks.constructEventAsync(`${payload} `, header, "whsec_test", undefined, crypto).then(() => "", (error: Error) => error.constructor.name);
  return { customer, names, declined, event: event.type, forged };
}
