package io.headrace;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * Ends the periodic garbage collections of an idle JVM (`G1PeriodicGCInterval`) once there were two without another one in between:
 * the next would release nothing, and each takes up to 0.2 s of CPU time. A collection that has another cause resumes them.
 */
public final class IdleCollections implements NotificationListener {
    private static final String OPTION = "G1PeriodicGCInterval"; // HotSpot reads it once a second while it is 0
    private static final String PERIODIC = "G1 Periodic Collection";
    private static final int ENOUGH = 2;
    private final HotSpotDiagnosticMXBean options;
    private final String intervalMs;
    private int successive;

    private IdleCollections(HotSpotDiagnosticMXBean options, String intervalMs) {
        this.options = options;
        this.intervalMs = intervalMs;
    }

    /** Begin, in a JVM whose option says that there are such collections. */
    public static void limit() {
        HotSpotDiagnosticMXBean options = (HotSpotDiagnosticMXBean) ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        String intervalMs = options.getVMOption(OPTION).getValue();
        if (intervalMs.equals("0")) {
            return;
        }
        IdleCollections limit = new IdleCollections(options, intervalMs);
        for (Object collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (!((GarbageCollectorMXBean) collector).getName().contains("Concurrent")) { // a phase of a collection
                ((NotificationEmitter) collector).addNotificationListener(limit, null, null);
            }
        }
    }

    @Override
    public void handleNotification(Notification notification, Object handback) {
        collected(GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData()).getGcCause());
    }

    private synchronized void collected(String cause) {
        int before = successive;
        successive = cause.equals(PERIODIC) ? before + 1 : 0;
        if (before < ENOUGH && successive == ENOUGH) {
            options.setVMOption(OPTION, "0");
        } else if (before >= ENOUGH && successive == 0) {
            options.setVMOption(OPTION, intervalMs);
        }
    }
}
