/** What the example's monitoring and wiki hold. */
export interface Alert {
  readonly id: string;
  readonly service: string;
  readonly level: 'critical' | 'warning' | 'info';
  readonly title: string;
  /** Minutes before the moment of asking. */
  readonly minutesAgo: number;
}

export const ALERTS: readonly Alert[] = [
  { id: 'alert-4711', service: 'checkout', level: 'critical', title: 'HTTP 5xx rate 38 % (limit 1 %)', minutesAgo: 12 },
  { id: 'alert-4712', service: 'checkout', level: 'warning', title: 'p99 latency 4.8 s (limit 1.5 s)', minutesAgo: 14 },
  { id: 'alert-4713', service: 'checkout', level: 'info', title: 'Deploy 2026.11.3 finished', minutesAgo: 18 },
  {
    id: 'alert-4690',
    service: 'checkout',
    level: 'warning',
    title: 'Disk of node checkout-7 is 81 % full',
    minutesAgo: 610,
  },
  {
    id: 'alert-4720',
    service: 'payments',
    level: 'critical',
    title: 'Connection pool to payments-db is used up',
    minutesAgo: 7,
  },
  { id: 'alert-4721', service: 'payments', level: 'warning', title: '支付网关超时率 12 %(上限 2 %)', minutesAgo: 9 },
  { id: 'alert-4730', service: 'search', level: 'info', title: 'Index rebuild started', minutesAgo: 35 },
];

export interface Runbook {
  readonly id: string;
  readonly title: string;
  /** Empty: for every service. */
  readonly services: readonly string[];
  readonly steps: readonly string[];
}

export const RUNBOOKS: readonly Runbook[] = [
  {
    id: 'runbook-checkout-5xx',
    title: 'Checkout answers with 5xx errors',
    services: ['checkout'],
    steps: [
      'Compare the start of the errors with the last deploy.',
      'If they fit, roll the deploy back with the release tool; do not restart single nodes.',
      'If more than 20 % of requests fail, open a sev1 ticket and page the on-call engineer.',
    ],
  },
  {
    id: 'runbook-latency',
    title: 'High latency of a web service',
    services: [],
    steps: [
      'Look at the saturation of the connection pools.',
      'Look at the slowest dependency of the last 15 minutes.',
      'Shed background load first.',
    ],
  },
  {
    id: 'runbook-payment-timeout-zh',
    title: '支付网关超时处理手册',
    services: ['payments', 'checkout'],
    steps: [
      '确认支付网关的超时率和错误码。',
      '若数据库连接池耗尽,先扩容连接池,再重启消费者。',
      '超时率超过 10 % 时,创建 sev2 工单并通知值班工程师。',
    ],
  },
  {
    id: 'runbook-payments-pool',
    title: 'Payments: database connection pool is used up',
    services: ['payments'],
    steps: [
      'Look for long transactions in payments-db.',
      'Raise the pool by half; never above 200 connections.',
      'Tell the database team.',
    ],
  },
];
